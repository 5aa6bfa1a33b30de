import type { FlagCheck, GoProgram } from '../../lab/wine/go-programs.ts'

/** Result of one test. */
export interface CheckResult {
  readonly what: string
  readonly passed: boolean
}

export interface WineEvidence {
  readonly date: Date
  readonly wine: string
  readonly node: string
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly shown: readonly CheckResult[]
  /** Operations that need PowerShell, which Wine lacks. */
  readonly unanswered: readonly string[]
  readonly programs: readonly GoProgram[]
  readonly flags: readonly FlagCheck[]
  /** The library that Go needs and Wine lacks. A stand-in replaces it. */
  readonly standIn: string
  /** Error with which the kubelet ended after it had read its configuration. */
  readonly kubelet: string
}

/** Renders the results for docs/evidence. */
export function formatWineEvidence({
  date,
  wine,
  node,
  hyperkube,
  shown,
  unanswered,
  programs,
  flags,
  standIn,
  kubelet,
}: WineEvidence): string {
  return `# In Wine

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, in Node ${node} for Windows, on ${wine}.

Wine is not Windows: its service manager, registry and pipes are reimplementations from the same
documents. This does not show where Windows itself behaves differently. Our code makes two allowances for it: all responses of its manager have the
same number, and a flag that it does not know is no failure.

| test | passed |
|---|---|
${shown.map(({ what, passed }) => `| ${what} | ${passed ? 'yes' : 'no'} |`).join('\n')}

Its PowerShell exits at once and does nothing. So these operations failed, each with its name:
${unanswered.join(', ')}.

Its manager stores neither restart delays nor that a program which ends with an error counts as failed. It ignores service
dependencies and does not list them: none of that was tested.

## Upstream's programs for Windows

${programs.length === 0 ? 'They were not checked in this run.' : `${formatProgramTable(programs, standIn)}\n\n${formatFlagTable(flags)}\n\n${formatKubelet(kubelet)}`}
`
}

function formatProgramTable(programs: readonly GoProgram[], standIn: string): string {
  const rows = programs.map(
    ({ part, name, version, failure, imports, runtimeLibraries, foreign, unknown }) => {
      const started =
        failure === undefined ? `yes: ${escapeCell(version ?? '')}` : `no: ${escapeCell(failure)}`
      const loadedAtRuntime = [...runtimeLibraries, ...unknown.map((one) => `${one}?`)].join(', ')
      return `| ${part} | ${name} | ${started} | ${imports.join(', ')} | ${loadedAtRuntime} | ${foreign.join(', ') || 'none'} |`
    },
  )
  return `Go programs load ${standIn}, which this Wine lacks. The test added one without code that forwards to
a function of Wine. The imports of a program are in its headers; libraries that it loads at run time were searched
in its strings, and marked with ? where no library of Windows has that name.

| part | program | starts | imports | loads at run time | of these not in Windows Server 2022 |
|---|---|---|---|---|---|
${rows.join('\n')}`
}

function formatFlagTable(flags: readonly FlagCheck[]): string {
  const rows = flags.map(({ program, method, flags: all, missing }) => {
    const methodText = method === 'query' ? 'checked with the program' : 'searched in its strings'
    return `| ${program} | ${all.join(', ')} | ${methodText} | ${missing.join(', ') || 'none'} |`
  })
  return `The flags that a plan gives to each:

| program | flags | how | missing |
|---|---|---|---|
${rows.join('\n')}`
}

function formatKubelet(exitMessage: string): string {
  return exitMessage === ''
    ? 'The kubelet was not started with the settings of a plan.'
    : `containerd finds a user session, and so does not notify the service manager that it runs: it was started as a
program. Node cannot write to a pipe of this Wine while it waits for a response: of the agent's readiness probe, only opening
containerd's pipe was tested. The kubelet read the settings of a plan without an error, and then ended: \`${escapeCell(exitMessage)}\`.`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).slice(0, 120)
}
