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

Wine is not Windows: its manager of services, its registry and its pipes are those of others, written after the same
documents. What Windows itself does differently is not seen here. Our code makes two allowances for it: all answers of its manager bear the
same number, and a flag that it does not know is no failure.

| test | passed |
|---|---|
${shown.map(({ what, passed }) => `| ${what} | ${passed ? 'yes' : 'no'} |`).join('\n')}

Its PowerShell ends at once and has done nothing. So these operations were not answered, and each said so by its name:
${unanswered.join(', ')}.

Its manager keeps neither how soon a service is started again nor that a program which ends with an error counts as failed, takes no notice of
services that depend on another, and does not tell which do: none of that was seen.

## Upstream's programs for Windows

${programs.length === 0 ? 'They were not looked at in this run.' : `${formatProgramTable(programs, standIn)}\n\n${formatFlagTable(flags)}\n\n${formatKubelet(kubelet)}`}
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
  return `Programs of Go begin with ${standIn}, which this Wine lacks. It was given one without any code, whose only function is another
name for one of Wine's own. What a program needs before it begins is in its headers; what it asks for when it runs was looked for
among its texts, and marked with ? where no library of Windows bears that name.

| part | program | starts | needs | asks for | of these not in Windows Server 2022 |
|---|---|---|---|---|---|
${rows.join('\n')}`
}

function formatFlagTable(flags: readonly FlagCheck[]): string {
  const rows = flags.map(({ program, method, flags: all, missing }) => {
    const methodText = method === 'query' ? 'the program was asked for each' : 'looked for among its texts'
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
program. Node cannot write to a pipe of this Wine while it waits for an answer: that containerd's can be opened is all that was seen of
the agent's own question whether it is ready. The kubelet read the settings of a plan without an error, and then ended: \`${escapeCell(exitMessage)}\`.`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).slice(0, 120)
}
