import { posix } from 'node:path'
import { Argument } from 'commander'
import { errorCodeAreas, errorCodes } from '../../error-codes/error-codes.ts'
import { joinNames, suggestWord, toPrintable } from '../../kit/text.ts'
import { exitCodes, type LeafCommand, type Paint } from '../command/command.ts'
import { printResult } from '../command/print.ts'

export const explainCommand: LeafCommand = {
  examples: [
    ['hyperkube explain HOST_PORT_TAKEN', 'print what the code means and what to do next'],
    ['hyperkube explain GATE_NOT_PASSED -o json', 'print JSON for scripts'],
  ],
  sharedFlags: ['output'],
  configure: (command) =>
    command.addArgument(new Argument('<code>', 'code of an error, a warning or a finding')),
  async run(context, { args: [word = ''], options }) {
    const found = findExplanation(word)
    if (found === undefined) {
      context.stderr.write(toPrintable(`USAGE: there is no code ${word}\n  → ${suggestCodes(word)}\n`))
      return exitCodes.usage
    }
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'ErrorCode', ...found }
    printResult(context.stdout, options.output, document, () => formatExplanation(found, context.paint))
    return exitCodes.ok
  },
}

/** What the reference says about a code. */
interface Explanation {
  readonly code: string
  /** Heading of the code in the reference. */
  readonly area: string
  readonly summary: string
  readonly meaning?: string
  readonly remedy: string
}

function findExplanation(word: string): Explanation | undefined {
  const code = normalizeCode(word)
  return errorCodeAreas.flatMap(({ title, entries }): Explanation[] => {
    const entry = Object.hasOwn(entries, code) ? entries[code] : undefined
    if (entry === undefined) return []
    const { summary, meaning, remedy } = entry
    return [
      {
        ...{ code, area: title, summary: resolveLinks(summary) },
        ...(meaning === undefined ? {} : { meaning: resolveLinks(meaning) }),
        remedy: resolveLinks(remedy),
      },
    ]
  })[0]
}

/** Accepts lower case, and the colon that follows the code in a message. */
function normalizeCode(word: string): string {
  return word.replace(/:$/, '').toUpperCase()
}

/** Replaces links of the reference by their text and the file in the repository. */
function resolveLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, title: string, target: string) => {
    const path = target.includes('://') ? target : posix.join('docs/reference', target)
    return `${title} (${path})`
  })
}

function suggestCodes(word: string): string {
  const code = normalizeCode(word)
  const known = Object.keys(errorCodes)
  const suggestion = suggestWord(code, known)
  if (suggestion !== undefined) return `did you mean hyperkube explain ${suggestion}?`
  const similar = code.length < 3 ? [] : known.filter((one) => one.includes(code))
  if (similar.length > 0) return `codes with ${code}: ${joinNames(similar)}`
  return 'copy the code from the message; docs/reference/errors.md lists all codes'
}

function formatExplanation({ code, summary, meaning, remedy }: Explanation, paint: Paint): string {
  const lines = [
    `${paint('bold', code)}: ${summary}`,
    ...(meaning === undefined ? [] : [`  ${meaning}`]),
    `  → ${remedy}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}
