/**
 * The tutorial is a page whose commands a test runs. HTML comments mark its parts:
 *
 * - `<!-- run: NAME -->` stands before a block of commands, which is followed by a block with their output.
 * - `<!-- file: NAME -->` stands before the content of a file that the reader creates.
 */
export type TutorialStep = TutorialCommands | TutorialFile

export interface TutorialCommands {
  readonly kind: 'run'
  readonly name: string
  readonly commands: string
  readonly output: string
}

export interface TutorialFile {
  readonly kind: 'file'
  readonly name: string
  readonly content: string
}

const fence = '```'
const runPattern = new RegExp(
  `<!-- run: (\\S+) -->\\n\\n?${fence}sh\\n([\\s\\S]*?)${fence}\\n\\n${fence}text\\n([\\s\\S]*?)${fence}`,
  'g',
)
const filePattern = new RegExp(`<!-- file: (\\S+) -->\\n\\n?${fence}\\w+\\n([\\s\\S]*?)${fence}`, 'g')

/** Lists the steps of a page in their order. Throws if a comment is not followed by its blocks. */
export function parseTutorial(markdown: string): TutorialStep[] {
  const runs = [...markdown.matchAll(runPattern)].map(
    ({ index, 1: name = '', 2: commands = '', 3: output = '' }) => ({
      index,
      step: { kind: 'run' as const, name, commands, output },
    }),
  )
  const files = [...markdown.matchAll(filePattern)].map(({ index, 1: name = '', 2: content = '' }) => ({
    index,
    step: { kind: 'file' as const, name, content },
  }))
  const found = [...runs, ...files].toSorted((a, b) => a.index - b.index).map(({ step }) => step)
  const marks = [...markdown.matchAll(/<!-- (?:run|file): (\S+) -->/g)].map(([, name = '']) => name)
  const names = found.map(({ name }) => name)
  const wrong = marks.find((name, index) => names[index] !== name || names.indexOf(name) !== index)
  if (wrong !== undefined) throw new Error(`the blocks after the comment ${wrong} are missing or not unique`)
  return found
}

/** Replaces the outputs of a page. Throws if a step has no output. */
export function replaceOutputs(markdown: string, outputs: ReadonlyMap<string, string>): string {
  return markdown.replaceAll(runPattern, (block: string, name: string, commands: string) => {
    const output = outputs.get(name)
    if (output === undefined) throw new Error(`there is no output of ${name}`)
    const start = block.slice(0, block.indexOf(commands) + commands.length)
    return `${start}${fence}\n\n${fence}text\n${output.trimEnd()}\n${fence}`
  })
}

const [maxLines, headLines, tailLines] = [30, 14, 12]

/** Leaves out the middle of a long output. */
export function shortenOutput(text: string): string {
  const lines = text.trimEnd().split('\n')
  if (lines.length <= maxLines) return lines.join('\n')
  const omitted = lines.length - headLines - tailLines
  return [...lines.slice(0, headLines), `… ${omitted} more lines …`, ...lines.slice(-tailLines)].join('\n')
}
