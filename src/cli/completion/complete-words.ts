import type { Argument, Command, Option } from 'commander'
import type { Cluster } from '../../spec/cluster.ts'
import { listAddonSwitches } from '../addon/addon-switch.ts'
import { type CommandDefinition, isCommandGroup } from '../command/command.ts'
import { buildSilentCommand } from '../command/help.ts'

/** A word that the shell may insert, with an explanation. */
export interface Candidate {
  readonly word: string
  readonly about: string
}

/** Commands of the first level. */
export interface CompletionTable {
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  readonly load: (name: string) => Promise<CommandDefinition | undefined>
}

/** Reads the files to which the words refer. */
export interface CompletionFiles {
  /** Reads the cluster; undefined if there is none or it is invalid. */
  readonly cluster: (file: string | undefined) => Promise<Cluster | undefined>
  /** Reads the default Kubernetes versions of the catalog; empty if it is invalid. */
  readonly versions: (file: string | undefined) => Promise<readonly string[]>
}

/**
 * Lists candidates for the last word of a command line. An empty list means that the shell completes file
 * names.
 */
export async function completeWords(
  words: readonly string[],
  table: CompletionTable,
  files: CompletionFiles,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? ''
  const [name, ...before] = words.slice(0, -1)
  if (name === undefined) return select(table.commands.map(toCandidate), current)
  let definition = await table.load(name)
  while (definition !== undefined && isCommandGroup(definition)) {
    const [word] = before
    const { own, subcommands } = definition
    if (word === undefined && (own === undefined || !current.startsWith('-')))
      return select(subcommands.map(toCandidate), current)
    const subcommand = subcommands.find((one) => one.name === word)
    if (subcommand !== undefined) before.shift()
    definition = subcommand?.definition ?? own
  }
  if (definition === undefined) return []
  const command = buildSilentCommand({ name, summary: name, definition })
  return completeArguments(command, before, current, files)
}

function toCandidate({ name, summary }: { readonly name: string; readonly summary: string }): Candidate {
  return { word: name, about: summary }
}

async function completeArguments(
  command: Command,
  before: readonly string[],
  current: string,
  files: CompletionFiles,
): Promise<readonly Candidate[]> {
  const { pendingOption, operands, file } = scanWords(command, before)
  if (pendingOption !== undefined) {
    const name = getPlaceholder(pendingOption)
    return completeValue(name, pendingOption.argChoices, current, files, file)
  }
  if (current.startsWith('-')) {
    const flags = [...command.options.flatMap(listFlags), { word: '--help', about: 'print help' }]
    return select(
      flags.filter(({ word }) => !before.includes(word)),
      current,
    )
  }
  const argument = findArgument(command.registeredArguments, operands)
  return argument === undefined
    ? []
    : completeValue(argument.name(), argument.argChoices, current, files, file)
}

interface ScannedWords {
  /** Option whose value is the current word. */
  readonly pendingOption: Option | undefined
  /** Number of positional arguments. */
  readonly operands: number
  /** Value of --file. */
  readonly file: string | undefined
}

function scanWords(command: Command, words: readonly string[]): ScannedWords {
  let pendingOption: Option | undefined
  let operands = 0
  let file: string | undefined
  for (const word of words) {
    if (pendingOption !== undefined) {
      if (pendingOption.long === '--file') file = word
      pendingOption = undefined
    } else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short)
      if (option?.required === true) pendingOption = option
    } else operands++
  }
  return { pendingOption, operands, file }
}

function listFlags({ long, description }: Option): readonly Candidate[] {
  return long === undefined || long === null ? [] : [{ word: long, about: description }]
}

/** Returns the placeholder of an option's value, for example `hosts` for `--limit <hosts>`. */
function getPlaceholder({ flags }: Option): string {
  return /<(.+)>/.exec(flags)?.[1] ?? ''
}

function findArgument(registered: readonly Argument[], index: number): Argument | undefined {
  const last = registered.at(-1)
  return registered[index] ?? (last?.variadic === true ? last : undefined)
}

async function completeValue(
  name: string,
  choices: readonly string[] | undefined,
  current: string,
  files: CompletionFiles,
  file: string | undefined,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return select(withoutText(choices), current)
  switch (name) {
    case 'code': {
      // Loaded only when needed, because few words are codes.
      const { errorCodes } = await import('../../error-codes/error-codes.ts')
      return select(
        Object.entries(errorCodes).map(([code, { summary }]) => ({ word: code, about: summary })),
        current,
      )
    }
    case 'version':
      return select(withoutText(await files.versions(file)), current)
    case 'addon': {
      const cluster = await files.cluster(file)
      return select(withoutText(cluster === undefined ? [] : [...listAddonSwitches(cluster).keys()]), current)
    }
    case 'host':
    case 'hosts': {
      const hosts = (await files.cluster(file))?.spec.hosts ?? []
      // A value such as cp1,w is a list; only its last name is completed.
      const start = name === 'hosts' ? current.slice(0, current.lastIndexOf(',') + 1) : ''
      return select(
        hosts.map((host) => ({ word: `${start}${host.name}`, about: host.roles.join(', ') })),
        current,
      )
    }
    default:
      return []
  }
}

function withoutText(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, about: '' }))
}

function select(candidates: readonly Candidate[], start: string): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(start))
}
