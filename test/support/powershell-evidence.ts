import type { CheckResult } from './wine-evidence.ts'

/** A check of the host contract, with the error if it failed. */
interface Check {
  readonly check: string
  readonly failed?: string
}

export interface PowerShellEvidence {
  readonly date: Date
  readonly wine: string
  readonly powershell: string
  readonly shown: readonly CheckResult[]
  readonly checks: readonly Check[]
  /** Windows commands that were replaced by stand-ins, and those that PowerShell in Wine provides itself. */
  readonly standIns: readonly string[]
  readonly real: readonly string[]
}

/** Renders the results for docs/evidence. */
export function formatPowershellEvidence(evidence: PowerShellEvidence): string {
  const { date, wine, powershell, shown, checks, standIns, real } = evidence
  return `# The script in a real PowerShell

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: \`src/agent/host/windows/powershell/host.ps1\` in PowerShell ${powershell} for Windows, on ${wine}.

This is neither Windows nor the PowerShell of Windows, which is 5.1: that one runs on .NET Framework, and some commands and methods
behave differently there. The program comes in a third-party package of Microsoft's, and its digest is pinned. The digests in the
signatures of its programs matched once; their certificates were not checked. It has a console in Wine, without which it does not
start there, and no network.

| test | passed |
|---|---|
${shown.map(({ what, passed }) => `| ${escapeCell(what)} | ${passed ? 'yes' : 'no'} |`).join('\n')}

## The contract of all hosts, with stand-ins

What holds for any Windows host (\`lab/windows/simulator/host-contract.ts\`):

| check | passed |
|---|---|
${checks.map(({ check, failed }) => `| ${escapeCell(check)} | ${failed === undefined ? 'yes' : `no: ${escapeCell(failed)}`} |`).join('\n')}

## Real commands and stand-ins

PowerShell ${powershell} or Wine did these themselves: ${formatList(real)}.

For these there were stand-ins (\`lab/wine/windows-commands.ps1\`), because Wine lacks what they read, or does not store what
they set: ${formatList(standIns)}. They were written without access to Windows, refuse unknown parameters, and return the output of \`powershell-commands.ts\`; the behaviour of
Windows was not observed. \`Get-Service\` is PowerShell's own except for dependencies; \`Get-CimInstance\` and \`Invoke-CimMethod\` use Wine's
own service manager and processes.

PowerShell 7 parses a JSON string that is a time as a time, which 5.1 does not: a file with only such a string would change
here.

Without stand-ins HNS and CIM are not used here: their libraries are missing, which is reported correctly and then mostly leaves this
PowerShell hanging in Wine. Tried by hand, without the script: a type declared in memory, as \`HNSCall\` is, hung in six tries of six, the same from
a file did not in one. PowerShell 7 fails on the first kind while it searches for the library. Why it hangs afterwards was not investigated.
`
}

function formatList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

function escapeCell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s+/g, ' ')
    .slice(0, 200)
}
