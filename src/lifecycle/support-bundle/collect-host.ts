import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { readVersionedLenient } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import { streamHostResponses } from '../../ssh/windows/call-host.ts'
import { requestOnce } from '../agents/request-once.ts'
import { findHostProgram } from '../agents/host-program.ts'
import { readHostLog } from '../logs/host-log.ts'
import type { LogTime } from '../logs/log-line.ts'
import { type SupportEntry, tryCollect } from './archive.ts'
import { type HostQuery, listHostQueries } from './host-queries.ts'
import { type Cleaner, createCleaner } from './redact.ts'

export interface HostCollectOptions {
  readonly services: readonly string[]
  readonly since: LogTime
  /** Maximum number of log lines for each component. */
  readonly lines: number
  readonly mask: SecretMask
  readonly formatReason: (error: unknown) => string
  readonly signal: AbortSignal
}

/** Timeout of one command, in milliseconds. */
const commandTimeoutMs = 30_000
/** Timeout of the whole inspection, in milliseconds. It is long, because PowerShell is slow. */
const inspectTimeoutMs = 180_000

/**
 * Collects all files of a host. If the agent does not answer, only the files that come from the agent are
 * omitted.
 */
export async function* collectHostFiles(
  remote: Remote,
  options: HostCollectOptions,
): AsyncGenerator<SupportEntry> {
  const { services, mask, formatReason, signal } = options
  const { host } = remote
  const cleaner = createCleaner(mask)
  const collect = async (file: string, read: () => Promise<string>): Promise<SupportEntry> =>
    tryCollect(`${host}/${file}`, signal, read, formatReason)
  yield collect('health.json', async () =>
    cleaner.json((await requestOnce(remote, { type: 'health' }, 'health', signal)).health),
  )
  yield collect('agent.json', async () =>
    cleaner.json(await requestOnce(remote, { type: 'hello' }, 'hello', signal)),
  )
  yield collect('certificates.json', async () =>
    cleaner.json((await requestOnce(remote, { type: 'certificates' }, 'certificates', signal)).certificates),
  )
  if (remote.windows !== undefined) yield* collectWindowsFiles(remote, options, cleaner)
  else
    for (const query of listHostQueries(host, services)) {
      yield collect(query.file, async () => {
        const result = await remote.exec(query.argv, { signal, root: true, timeout: commandTimeoutMs })
        return formatResult(query, result, cleaner)
      })
    }
  for (const name of services)
    yield collect(`${name}.log`, async () => collectLog(remote, name, options, cleaner))
}

/** Collects what the hyperkube program and the agent on a Windows host report. */
async function* collectWindowsFiles(
  remote: Remote,
  { formatReason, signal }: HostCollectOptions,
  cleaner: Cleaner,
): AsyncGenerator<SupportEntry> {
  const { host } = remote
  const collect = async (file: string, read: () => Promise<string>): Promise<SupportEntry> =>
    tryCollect(`${host}/${file}`, signal, read, formatReason)
  yield collect('facts.json', async () =>
    cleaner.json((await requestOnce(remote, { type: 'facts', host }, 'facts', signal)).facts),
  )
  yield collect('plan.json', async () => {
    // The agent returns its last plan whose digest differs from the given one. Every digest differs from an
    // empty text.
    const { plan } = await requestOnce(
      remote,
      { type: 'previous-plan', differentFrom: '' },
      'previous-plan',
      signal,
    )
    return cleaner.json(plan === undefined ? {} : redactExtraFiles(plan))
  })
  const inspectSignal = AbortSignal.any([signal, AbortSignal.timeout(inspectTimeoutMs)])
  try {
    for await (const response of streamHostResponses(
      await findHostProgram(remote, inspectSignal),
      { type: 'inspect' },
      inspectSignal,
    )) {
      if (response.type !== 'file') return
      const { file, text } = response
      yield collect(file, async () => cleaner.json(JSON.parse(text)))
    }
  } catch (error) {
    signal.throwIfAborted()
    yield { item: `${host}/windows`, reason: formatReason(error) }
  }
}

function formatResult({ format, argv }: HostQuery, result: ExecResult, cleaner: Cleaner): string {
  const { code, stdout, stderr } = result
  if (code !== 0 && stdout === '') {
    throw new HyperkubeError(
      'COMMAND_FAILED',
      `${argv[0]} ended with ${code}: ${cleaner.text(stderr.trim())}`,
    )
  }
  return formatters[format](cleaner, stdout, stderr)
}

const formatters: Readonly<
  Record<HostQuery['format'], (cleaner: Cleaner, output: string, stderr: string) => string>
> = {
  json: (cleaner, output) => cleaner.json(JSON.parse(output)),
  plan: (cleaner, output) =>
    cleaner.json(redactExtraFiles(readVersionedLenient(nodePlanFormat, JSON.parse(output)))),
  lines: (cleaner, output) => cleaner.lines(output),
  text: (cleaner, output, stderr) => cleaner.text(stderr === '' ? output : `${output}\n${stderr}`),
}

/**
 * Removes the contents of user files from a plan, because they may contain secrets. Other parts of a plan
 * never contain secrets.
 */
function redactExtraFiles(plan: NodePlan): NodePlan {
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      files: component.files.map((file) =>
        component.name === 'extra-files' && file.content.kind === 'text'
          ? { ...file, content: { kind: 'text', text: `left out: ${file.content.text.length} characters` } }
          : file,
      ),
    })),
  }
}

async function collectLog(
  remote: Remote,
  name: string,
  { since, lines, mask, signal }: HostCollectOptions,
  cleaner: Cleaner,
): Promise<string> {
  const logQuery = { components: [name], since, lines }
  const output: string[] = []
  for await (const { time, priority, message } of readHostLog(remote, logQuery, { mask, signal })) {
    const head = `${new Date(time / 1000).toISOString()} <${priority}> `
    output.push(
      ...toPrintable(message)
        .split('\n')
        .map((text) => `${head}${text}\n`),
    )
  }
  return cleaner.text(output.join(''))
}
