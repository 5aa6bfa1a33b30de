import {
  type HostCallResponse,
  hostCallResponseFormat,
  type HostCall,
  hostCallFormat,
} from '../../../contract/host-call.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import { toAsciiJson } from '../../../kit/ascii.ts'
import { formatError, HyperkubeError } from '../../../kit/errors.ts'
import { listDeliveries, acceptUpload } from './deliveries.ts'
import { inspectWindowsHost } from './inspect.ts'
import { installWindowsAgent, readAgentStatus } from './install.ts'
import { readComponentLogs } from './logs.ts'
import type { HostCallContext } from './host-call-context.ts'
import { readHostDiskState, listHostServices } from './services.ts'
import { agentName, forgetPreviousAgent, startAgent } from './switch-agent.ts'

type ResponseBody = HostCallResponse['body']

/** Handles one call that an operator sends through a remote shell. Yields the lines of the response. */
export async function* handleHostCall(
  text: string,
  createContext: (base: string) => HostCallContext,
): AsyncGenerator<string> {
  try {
    const call = readVersioned(hostCallFormat, JSON.parse(text.replace(/^\uFEFF/, '')))
    for await (const response of respondTo(call, createContext(call.base))) yield formatLine(response)
  } catch (error) {
    yield formatLine(toRefusal(error))
  }
}

async function* respondTo({ body }: HostCall, context: HostCallContext): AsyncGenerator<ResponseBody> {
  switch (body.type) {
    case 'status':
      return yield readAgentStatus(context)
    case 'install':
      return yield installWindowsAgent(context, body)
    case 'start':
      return yield respondToStart(context)
    case 'keep':
      await forgetPreviousAgent(context, { self: false })
      return yield { type: 'done' }
    case 'take':
      return yield acceptUpload(context, body)
    case 'uploads':
      return yield listDeliveries(context, body)
    case 'services':
      return yield listHostServices(context, body)
    case 'disk-state':
      return yield readHostDiskState(context, body)
    case 'logs':
      return yield* readComponentLogs(context, body)
    default:
      return yield* inspectWindowsHost(context)
  }
}

async function respondToStart(context: HostCallContext): Promise<ResponseBody> {
  if (await startAgent(context)) return { type: 'done' }
  throw new HyperkubeError('AGENT_NOT_STARTED', 'its agent did not start', {
    hint: `on the host: sc.exe query ${agentName}, and the last lines in ${context.paths.logs}`,
  })
}

function toRefusal(error: unknown): ResponseBody {
  if (!(error instanceof HyperkubeError))
    return { type: 'refused', code: 'UNEXPECTED', message: formatError(error) }
  const { code, hint } = error
  return { type: 'refused', code, message: formatError(error), ...(hint === undefined ? {} : { hint }) }
}

/** Formats a response as one line of ASCII, which remote shells pass on unchanged. */
function formatLine(response: ResponseBody): string {
  const document: HostCallResponse = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'HostCallResponse',
    body: response,
  }
  return `${toAsciiJson(JSON.stringify(hostCallResponseFormat.newest.schema.parse(document)))}\n`
}
