# Parses a script with this PowerShell, without running it. Reports errors, and syntax that Windows PowerShell 5.1 does not know.
# Only the language itself is checked, not commands and their parameters.
param([Parameter(Mandatory)] [string] $Path)

$tokens = $null
$errors = $null
$text = [IO.File]::ReadAllText($Path)
$tree = [System.Management.Automation.Language.Parser]::ParseInput($text, [ref] $tokens, [ref] $errors)
$kinds = 'QuestionMark', 'QuestionQuestion', 'QuestionQuestionEquals', 'QuestionDot', 'QuestionLBracket', 'AndAnd', 'OrOr', 'Clean'
$newer = @($tokens | Where-Object { $kinds -contains [string] $_.Kind } | ForEach-Object { [string] $_.Kind })
$newer += @($tree.FindAll({ param($one) $one -is [System.Management.Automation.Language.PipelineAst] -and $one.Background }, $true) | ForEach-Object { 'Background' })
$report = @{ errors = @($errors | ForEach-Object { $_.Message }); newer = $newer }
[Console]::Out.WriteLine((ConvertTo-Json -InputObject $report -Compress))
