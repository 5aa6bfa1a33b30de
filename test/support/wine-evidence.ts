import type { FlagCheck, GoProgram } from '../../lab/wine/go-programs.ts'

/** One thing that was to be shown. */
export interface Shown {
  readonly what: string
  readonly well: boolean
}

export interface WineEvidence {
  readonly date: Date
  readonly wine: string
  readonly node: string
  /** What `hyperkube version` says there. */
  readonly hyperkube: string
  readonly shown: readonly Shown[]
  /** What PowerShell would have to answer for, and what was said in its place. */
  readonly unanswered: readonly string[]
  readonly programs: readonly GoProgram[]
  readonly flags: readonly FlagCheck[]
  /** Whether the library that Go needs, and this Wine lacks, was put there. */
  readonly standIn: string
  /** What the kubelet ended with, once it had read its settings. */
  readonly kubelet: string
}

/** What came of it, as it is kept. */
export function wineText({
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

| what was shown | well |
|---|---|
${shown.map(({ what, well }) => `| ${what} | ${well ? 'yes' : 'no'} |`).join('\n')}

Its PowerShell ends at once and has done nothing. So these operations were not answered, and each said so by its name:
${unanswered.join(', ')}.

Its manager keeps neither how soon a service is started again nor that a program which ends with an error counts as failed, takes no notice of
services that depend on another, and does not tell which do: none of that was seen.

## Upstream's programs for Windows

${programs.length === 0 ? 'They were not looked at in this run.' : `${programTable(programs, standIn)}\n\n${flagTable(flags)}\n\n${kubeletText(kubelet)}`}
`
}

function programTable(programs: readonly GoProgram[], standIn: string): string {
  const rows = programs.map(({ part, name, version, failure, imports, asks, foreign, unknown }) => {
    const started = failure === undefined ? `yes: ${cell(version ?? '')}` : `no: ${cell(failure)}`
    const more = [...asks, ...unknown.map((one) => `${one}?`)].join(', ')
    return `| ${part} | ${name} | ${started} | ${imports.join(', ')} | ${more} | ${foreign.join(', ') || 'none'} |`
  })
  return `Programs of Go begin with ${standIn}, which this Wine lacks. It was given one without any code, whose only function is another
name for one of Wine's own. What a program needs before it begins is in its headers; what it asks for when it runs was looked for
among its texts, and marked with ? where no library of Windows bears that name.

| part | program | starts | needs | asks for | of these not in Windows Server 2022 |
|---|---|---|---|---|---|
${rows.join('\n')}`
}

function flagTable(flags: readonly FlagCheck[]): string {
  const rows = flags.map(({ program, by, flags: all, missing }) => {
    const way = by === 'asking' ? 'the program was asked for each' : 'looked for among its texts'
    return `| ${program} | ${all.join(', ')} | ${way} | ${missing.join(', ') || 'none'} |`
  })
  return `The flags that a plan gives to each:

| program | flags | how | missing |
|---|---|---|---|
${rows.join('\n')}`
}

function kubeletText(why: string): string {
  return why === ''
    ? 'The kubelet was not started with the settings of a plan.'
    : `containerd finds somebody's session around itself, and so does not tell the manager of services that it runs: it was started as a
program. Node cannot write to a pipe of this Wine while it waits for an answer: that containerd's can be opened is all that was seen of
the agent's own question whether it is ready. The kubelet read the settings of a plan, told them again without a complaint, and then ended: \`${cell(why)}\`.`
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).slice(0, 120)
}
