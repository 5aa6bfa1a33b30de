# What the parser of this PowerShell says of a script, without running it: errors, and words that Windows PowerShell 5.1 does
# not know. Of what came between them, only what the language itself gained: commands and their parameters are not looked at.
param([Parameter(Mandatory)] [string] $Path)

$tokens = $null
$errors = $null
$text = [IO.File]::ReadAllText($Path)
$tree = [System.Management.Automation.Language.Parser]::ParseInput($text, [ref] $tokens, [ref] $errors)
$kinds = 'QuestionMark', 'QuestionQuestion', 'QuestionQuestionEquals', 'QuestionDot', 'QuestionLBracket', 'AndAnd', 'OrOr', 'Clean'
$newer = @($tokens | Where-Object { $kinds -contains [string] $_.Kind } | ForEach-Object { [string] $_.Kind })
$newer += @($tree.FindAll({ param($one) $one -is [System.Management.Automation.Language.PipelineAst] -and $one.Background }, $true) | ForEach-Object { 'Background' })
$said = @{ errors = @($errors | ForEach-Object { $_.Message }); newer = $newer }
[Console]::Out.WriteLine((ConvertTo-Json -InputObject $said -Compress))
