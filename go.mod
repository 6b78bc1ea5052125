module git-runr

go 1.26.0
