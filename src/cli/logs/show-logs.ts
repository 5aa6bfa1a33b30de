import type { SecretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import { hostLog } from '../../lifecycle/logs/host-log.ts'
import type { LogLine } from '../../lifecycle/logs/log-line.ts'
import { merged } from '../../lifecycle/logs/merge.ts'
import type { Remote } from '../../ssh/remote.ts'
import { type Context, type ExitCode, exitCodes, type OutputFormat } from '../command.ts'
import { reasonOf } from '../format-host-error.ts'
import type { LogFlags } from './flags.ts'
import { logText } from './text.ts'

export interface LogScene {
  readonly context: Pick<Context, 'stdout' | 'stderr' | 'paint' | 'signal'>
  readonly output: OutputFormat
  readonly flags: LogFlags
  /** What is looked at on each host. */
  readonly components: ReadonlyMap<string, readonly string[]>
  readonly remoteOf: (host: string) => Promise<Remote>
  readonly mask: SecretMask
}

/** How long a line waits for older ones of other hosts while all are followed, in milliseconds. */
const followWindow = 500

/** Shows the logs of all hosts as one. Whoever does not answer is said, and the others are shown all the same. */
export async function showLogs({
  context,
  output,
  flags,
  components,
  remoteOf,
  mask,
}: LogScene): Promise<ExitCode> {
  const { stdout, stderr, paint, signal } = context
  const silent = new Set<string>()
  const { since, until, lines, follow, grep } = flags
  const read = async function* (host: string, names: readonly string[]): AsyncGenerator<LogLine> {
    try {
      const wish = {
        components: names,
        follow,
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
        ...(lines === undefined ? {} : { lines }),
      }
      yield* hostLog(await remoteOf(host), wish, { mask, signal })
    } catch (error) {
      signal.throwIfAborted()
      silent.add(host)
      stderr.write(`${printable(`${host}: ${reasonOf(host, error)}`)}\n`)
    }
  }
  const text = logText({
    hosts: [...components.keys()],
    components: [...new Set([...components.values()].flat())],
    output,
    paint,
  })
  const sources = [...components].map(([host, names]) => read(host, names))
  const wanted = grep?.toLowerCase()
  for await (const line of merged(sources, { window: follow ? followWindow : Infinity })) {
    if (wanted === undefined || line.message.toLowerCase().includes(wanted)) stdout.write(text(line))
  }
  signal.throwIfAborted()
  return silent.size === 0 ? exitCodes.ok : exitCodes.failure
}
