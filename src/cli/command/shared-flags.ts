import { dirname, join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { LocalFiles } from '../../workspace/context.ts'
import { type CommandEnvironment, outputFormats, type SharedFlag } from './command.ts'
import { parseTimeoutFlag } from './deadline.ts'

const fileText = 'path of cluster.yml (default: HYPERKUBE_FILE, or cluster.yml here or in a parent directory)'

const adders: Readonly<Record<SharedFlag, (command: Command) => void>> = {
  file: (command) => command.option('-f, --file <path>', fileText),
  'long-file': (command) => command.option('--file <path>', fileText),
  'new-file': (command) =>
    command.option('-f, --file <path>', 'path of cluster.yml (default: HYPERKUBE_FILE, or cluster.yml)'),
  'fleet-file': (command) =>
    command.option(
      '-f, --file <path>',
      'path of fleet.yml (default: fleet.yml here or in a parent directory)',
    ),
  'any-file': (command) =>
    command.option(
      '-f, --file <path>',
      'path of fleet.yml or cluster.yml (default: HYPERKUBE_FILE, fleet.yml or cluster.yml here or in a parent directory)',
    ),
  key: (command) =>
    command.option(
      '--key <file>',
      'key file of the cluster identity (default: HYPERKUBE_KEY_FILE, or ~/.config/hyperkube/keys/NAME.key)',
    ),
  limit: (command) =>
    command.option(
      '--limit <hosts>',
      'limit the command to these hosts: cp1,w1 (default: all)',
      parseLimitFlag,
    ),
  output: (command) =>
    command.addOption(
      new Option('-o, --output <format>', 'output format').choices(outputFormats).default('table'),
    ),
  'html-output': (command) =>
    command.addOption(
      new Option('-o, --output <format>', 'output format; html is one file without scripts')
        .choices([...outputFormats, 'html'])
        .default('table'),
    ),
  confirm: (command) =>
    command
      .option('-y, --yes', 'confirm all changes without a prompt')
      .option('--no-input', 'never prompt; fail instead'),
}

/** Adds the shared flags of a command, and the flags of every command. */
export function addSharedFlags(command: Command, sharedFlags: readonly SharedFlag[]): Command {
  for (const flag of sharedFlags) adders[flag](command)
  return command
    .option(
      '--timeout <duration>',
      'abort after this duration: 30s, 5m, 1h30m (default: none)',
      parseTimeoutFlag,
    )
    .option('-v, --verbose', 'print every event of hosts, one per line')
    .option('-q, --quiet', 'print no progress, only results, warnings and errors')
    .option('--debug', 'print stack traces of unexpected errors')
}

/**
 * Names of shared flags that have a value. They may come before the command, so the search for the command
 * must skip their values.
 */
export const sharedFlagsWithValue: ReadonlySet<string> = new Set([
  '-f',
  '--file',
  '-o',
  '--output',
  '--key',
  '--limit',
  '--timeout',
])

const fileName = 'cluster.yml'
const fleetFileName = 'fleet.yml'

/**
 * Finds cluster.yml, or fleet.yml for fleet commands, in the working directory or in the nearest parent
 * directory that has one.
 */
export async function findClusterFile(
  sharedFlags: readonly SharedFlag[],
  { file, workingDirectory }: CommandEnvironment,
  { exists }: Pick<LocalFiles, 'exists'>,
): Promise<string> {
  if (sharedFlags.includes('fleet-file')) return findUpwards(fleetFileName, workingDirectory, exists)
  if (file !== undefined) return file
  if (sharedFlags.includes('any-file')) {
    const fleet = await findUpwards(fleetFileName, workingDirectory, exists)
    return (await exists(fleet)) ? fleet : findUpwards(fileName, workingDirectory, exists)
  }
  return sharedFlags.includes('file') || sharedFlags.includes('long-file')
    ? findUpwards(fileName, workingDirectory, exists)
    : fileName
}

async function findUpwards(
  name: string,
  workingDirectory: string,
  exists: LocalFiles['exists'],
): Promise<string> {
  let relative = name
  for (let directory = workingDirectory; ; directory = dirname(directory)) {
    if (await exists(relative)) return relative
    // No directory has the file. The command will report that the file is missing in the working directory.
    if (dirname(directory) === directory) return name
    relative = join('..', relative)
  }
}

/** Parses the value of --limit. Repeated flags are combined. */
export function parseLimitFlag(text: string, previous: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('expected host names such as cp1,w1')
  return [...new Set([...previous, ...names])]
}
