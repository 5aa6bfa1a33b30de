import { nodePlanFormat, type NodePlan } from '../../contract/node-plan.ts'
import { readTold } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import { hearHost } from '../../ssh/windows/call-host.ts'
import { askOnce } from '../request-once.ts'
import { hostLog, type When } from '../logs/host-log.ts'
import { calleeOn } from '../host-program.ts'
import { type Clean, cleaner } from './cleaner.ts'
import { type HostQuestion, hostQuestions } from './host-queries.ts'
import { attempt, type Piece } from './support-entry.ts'

export interface HostGathering {
  readonly services: readonly string[]
  readonly since: When
  /** Of each component. */
  readonly lines: number
  readonly mask: SecretMask
  readonly reasonOf: (error: unknown) => string
  readonly signal: AbortSignal
}

/** Milliseconds for one question. */
const patience = 30_000
/** For all that is looked at through PowerShell, which takes its time. */
const inspection = 180_000

/** All that a host has to say, file by file. Of one whose agent is silent all but what only that knows. */
export async function* gatherHost(remote: Remote, gathering: HostGathering): AsyncGenerator<Piece> {
  const { services, mask, reasonOf, signal } = gathering
  const { host } = remote
  const clean = cleaner(mask)
  const at = async (file: string, make: () => Promise<string>): Promise<Piece> =>
    attempt(`${host}/${file}`, signal, make, reasonOf)
  yield at('health.json', async () =>
    clean.json((await askOnce(remote, { type: 'health' }, 'health', signal)).health),
  )
  yield at('agent.json', async () => clean.json(await askOnce(remote, { type: 'hello' }, 'hello', signal)))
  yield at('certificates.json', async () =>
    clean.json((await askOnce(remote, { type: 'certificates' }, 'certificates', signal)).certificates),
  )
  if (remote.windows !== undefined) yield* gatherWindows(remote, gathering, clean)
  else
    for (const question of hostQuestions(host, services)) {
      yield at(question.file, async () => {
        const ended = await remote.exec(question.argv, { signal, root: true, timeout: patience })
        return answerText(question, ended, clean)
      })
    }
  for (const name of services) yield at(`${name}.log`, async () => logOf(remote, name, gathering, clean))
}

/** What our own program sees there, by the operations that the agent uses, and what only the agent knows. */
async function* gatherWindows(
  remote: Remote,
  { reasonOf, signal }: HostGathering,
  clean: Clean,
): AsyncGenerator<Piece> {
  const { host } = remote
  const at = async (file: string, make: () => Promise<string>): Promise<Piece> =>
    attempt(`${host}/${file}`, signal, make, reasonOf)
  yield at('facts.json', async () =>
    clean.json((await askOnce(remote, { type: 'facts', host }, 'facts', signal)).facts),
  )
  yield at('plan.json', async () => {
    // Another than one that nobody has: the last one, whichever it is.
    const { plan } = await askOnce(remote, { type: 'former-plan', than: '' }, 'former-plan', signal)
    return clean.json(plan === undefined ? {} : withoutForeign(plan))
  })
  const until = AbortSignal.any([signal, AbortSignal.timeout(inspection)])
  try {
    for await (const answer of hearHost(await calleeOn(remote, until), { type: 'inspect' }, until)) {
      if (answer.type !== 'file') return
      const { file, text } = answer
      yield at(file, async () => clean.json(JSON.parse(text)))
    }
  } catch (error) {
    signal.throwIfAborted()
    yield { what: `${host}/windows`, reason: reasonOf(error) }
  }
}

function answerText({ form, argv }: HostQuestion, ended: ExecResult, clean: Clean): string {
  const { code, stdout, stderr } = ended
  if (code !== 0 && stdout === '') {
    throw new HyperkubeError('COMMAND_FAILED', `${argv[0]} ended with ${code}: ${clean.text(stderr.trim())}`)
  }
  return answered[form](clean, stdout, stderr)
}

const answered: Readonly<
  Record<HostQuestion['form'], (clean: Clean, said: string, apart: string) => string>
> = {
  json: (clean, said) => clean.json(JSON.parse(said)),
  plan: (clean, said) => clean.json(withoutForeign(readTold(nodePlanFormat, JSON.parse(said)))),
  lines: (clean, said) => clean.lines(said),
  text: (clean, said, apart) => clean.text(apart === '' ? said : `${said}\n${apart}`),
}

/** Plans hold no secrets of ours. What people have put into files of their own nobody knows. */
function withoutForeign(plan: NodePlan): NodePlan {
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

async function logOf(
  remote: Remote,
  name: string,
  { since, lines, mask, signal }: HostGathering,
  clean: Clean,
): Promise<string> {
  const wish = { components: [name], since, lines }
  const said: string[] = []
  for await (const { time, priority, message } of hostLog(remote, wish, { mask, signal })) {
    const head = `${new Date(time / 1000).toISOString()} <${priority}> `
    said.push(
      ...printable(message)
        .split('\n')
        .map((text) => `${head}${text}\n`),
    )
  }
  return clean.text(said.join(''))
}
