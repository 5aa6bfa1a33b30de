import { toFailure } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { readHostLog } from '../../lifecycle/logs/host-log.ts'
import type { LogLine } from '../../lifecycle/logs/log-line.ts'
import { mergeByTime } from '../../lifecycle/logs/merge.ts'
import type { Remote } from '../../ssh/remote.ts'
import { type CommandContext, type ExitCode, exitCodes, type OutputFormat } from '../command/command.ts'
import { formatFinding, formatHostError } from '../command/print.ts'
import type { LogFlags } from './flags.ts'
import { createLogFormatter } from './text.ts'

export interface ShowLogsOptions {
  readonly context: Pick<CommandContext, 'stdout' | 'stderr' | 'paint' | 'signal'>
  readonly output: OutputFormat
  readonly flags: LogFlags
  /** Components to show, by host. */
  readonly components: ReadonlyMap<string, readonly string[]>
  readonly connect: (host: string) => Promise<Remote>
  readonly mask: SecretMask
}

/** Milliseconds that a followed line waits for older lines of other hosts. */
const followWindow = 500

/** Shows the logs of all hosts merged by time. Reports hosts that fail, and continues with the others. */
export async function showLogs({
  context,
  output,
  flags,
  components,
  connect,
  mask,
}: ShowLogsOptions): Promise<ExitCode> {
  const { stdout, stderr, paint, signal } = context
  const failedHosts = new Set<string>()
  const { since, until, lines, follow, grep } = flags
  const readLog = async function* (host: string, names: readonly string[]): AsyncGenerator<LogLine> {
    try {
      const query = {
        components: names,
        follow,
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
        ...(lines === undefined ? {} : { lines }),
      }
      yield* readHostLog(await connect(host), query, { mask, signal })
    } catch (error) {
      signal.throwIfAborted()
      failedHosts.add(host)
      const failure = { ...toFailure(error), message: formatHostError(host, error) }
      stderr.write(formatFinding({ ...failure, severity: 'error', host }))
    }
  }
  const text = createLogFormatter({
    hosts: [...components.keys()],
    components: [...new Set([...components.values()].flat())],
    output,
    paint,
  })
  const sources = [...components].map(([host, names]) => readLog(host, names))
  const searchText = grep?.toLowerCase()
  for await (const line of mergeByTime(sources, { windowMs: follow ? followWindow : Infinity })) {
    if (searchText === undefined || line.message.toLowerCase().includes(searchText)) stdout.write(text(line))
  }
  signal.throwIfAborted()
  return failedHosts.size === 0 ? exitCodes.ok : exitCodes.failure
}
