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
do other things there. The program comes in a third-party package of Microsoft's, and its digest is pinned; the digests in the
signatures of its programs were found to match once, the certificates behind them were not followed. It has a console in Wine, without which it does not
start there, and no network.

| test | passed |
|---|---|
${shown.map(({ what, passed }) => `| ${escapeCell(what)} | ${passed ? 'yes' : 'no'} |`).join('\n')}

## The contract of all hosts, with stand-ins

What holds of any Windows host (\`operations/host-contract.ts\`):

| check | passed |
|---|---|
${checks.map(({ check, failed }) => `| ${escapeCell(check)} | ${failed === undefined ? 'yes' : `no: ${escapeCell(failed)}`} |`).join('\n')}

## What was Windows', and what was not

PowerShell ${powershell} or Wine did these themselves: ${formatList(real)}.

For these there were stand-ins (\`lab/wine/windows-commands.ps1\`), because Wine lacks what they ask, or does not keep what
they set: ${formatList(standIns)}. They were written without a Windows at hand, refuse parameters that they do not know, and give what \`commands.ts\` says; what
Windows does was not seen. \`Get-Service\` is PowerShell's own but for what a service depends on; \`Get-CimInstance\` and \`Invoke-CimMethod\` ask Wine's
own manager of services and its processes.

PowerShell 7 reads a text in JSON that is a time as a time, which 5.1 does not: a file that says nothing else would be written in other
words here.

Without stand-ins HNS and CIM are not asked here: libraries that they call are missing, which is reported as it should be and then mostly leaves this
PowerShell hanging in Wine. Tried by hand, without the script: what is declared in memory, as \`HNSCall\` is, did so in six tries of six, the same from
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
