import {
  type HostAnswer,
  hostAnswerFormat,
  type HostCall,
  hostCallFormat,
} from '../../../contract/host-call.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import { asciiJson } from '../../../kit/ascii.ts'
import { describe, HyperkubeError } from '../../../kit/errors.ts'
import { deliveries, take } from './deliveries.ts'
import { inspect } from './inspect.ts'
import { install, look } from './install.ts'
import { logs } from './logs.ts'
import type { CallScene } from './host-call-context.ts'
import { ground, services } from './services.ts'
import { agentName, endTrial, start } from './switch-agent.ts'

type Answer = HostAnswer['answer']

/** Answers a call of whoever reached the host, in lines. */
export async function* answerCall(
  text: string,
  sceneAt: (base: string) => CallScene,
): AsyncGenerator<string> {
  try {
    const call = readVersioned(hostCallFormat, JSON.parse(text.replace(/^\uFEFF/, '')))
    for await (const answer of answersTo(call, sceneAt(call.base))) yield lineOf(answer)
  } catch (error) {
    yield lineOf(refusal(error))
  }
}

async function* answersTo({ ask }: HostCall, scene: CallScene): AsyncGenerator<Answer> {
  switch (ask.type) {
    case 'look':
      return yield look(scene)
    case 'install':
      return yield install(scene, ask)
    case 'start':
      return yield started(scene)
    case 'keep':
      await endTrial(scene, { self: false })
      return yield { type: 'done' }
    case 'take':
      return yield take(scene, ask)
    case 'deliveries':
      return yield deliveries(scene, ask)
    case 'services':
      return yield services(scene, ask)
    case 'ground':
      return yield ground(scene, ask)
    case 'logs':
      return yield* logs(scene, ask)
    default:
      return yield* inspect(scene)
  }
}

async function started(scene: CallScene): Promise<Answer> {
  if (await start(scene)) return { type: 'done' }
  throw new HyperkubeError('AGENT_NOT_STARTED', 'its agent did not start', {
    hint: `on the host: sc.exe query ${agentName}, and the last lines in ${scene.places.logs}`,
  })
}

function refusal(error: unknown): Answer {
  if (!(error instanceof HyperkubeError))
    return { type: 'refused', code: 'UNEXPECTED', message: describe(error) }
  const { code, hint } = error
  return { type: 'refused', code, message: describe(error), ...(hint === undefined ? {} : { hint }) }
}

/** One line each, in letters that whichever shell stands in between hands on as they are. */
function lineOf(answer: Answer): string {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HostAnswer', answer }
  return `${asciiJson(JSON.stringify(hostAnswerFormat.newest.schema.parse(document)))}\n`
}
