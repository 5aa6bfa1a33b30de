import { win32 } from 'node:path'
import type { Readable } from 'node:stream'
import {
  type HostCall,
  type HostCallBody,
  hostCallFormat,
  type HostCallResponse,
  hostCallResponseFormat,
} from '../../contract/host-call.ts'
import { unfinishedUploadSuffix } from '../../contract/host-paths.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { toAsciiJson } from '../../kit/text.ts'
import { readLines } from '../../kit/lines.ts'
import {
  type HostCallContext,
  makeAdminOnlyDirectory,
  readHostDigest,
  readHostFileSize,
} from './host-call-context.ts'
import { digestMismatchError, installWindowsAgent, readAgentStatus } from './install.ts'
import { readComponentLogs } from './logs.ts'
import { listHostServices, readHostDiskState } from './services.ts'
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
  throw new HyperkubeError('AGENT_NOT_STARTED', 'the agent did not start', {
    hint: `on the host: sc.exe query ${agentName}; the logs are in ${context.paths.logs}`,
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

interface HostCallDeps {
  /** Stream with one request line. It ends when the caller disconnects. */
  readonly requests: Readable
  readonly respond: (line: string) => void
  readonly createContext: (base: string, callerGone: AbortSignal) => HostCallContext
}

/** Handles one call and writes the lines of the response. */
export async function serveCall({ requests, respond, createContext }: HostCallDeps): Promise<void> {
  const callerGone = new AbortController()
  requests.once('end', () => callerGone.abort())
  requests.once('close', () => callerGone.abort())
  const calls = readLines(requests)
  const call = await calls.next()
  // Keep reading the stream, or its end would not be noticed.
  requests.resume()
  try {
    if (call.done === true) return
    for await (const line of handleHostCall(call.value, (base) => createContext(base, callerGone.signal)))
      respond(line)
  } finally {
    requests.destroy()
  }
}

/** Services that are inspected in addition to `nodeServices`. */
const systemServices = ['hns', 'vmcompute', 'sshd', 'hyperkube-agent', 'hyperkube-revert', 'containerd']
const nodeServices = ['apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']

/**
 * Yields diagnostic files with the unchanged results of read operations. If a read fails, its file contains
 * the error.
 */
async function* inspectWindowsHost({
  host: { operations: host },
  paths,
}: HostCallContext): AsyncGenerator<HostCallResponse['body']> {
  const inspections: readonly (readonly [file: string, read: () => Promise<unknown>])[] = [
    ['system.json', async () => host.system.describe({})],
    ['services.json', async () => host.services.list({ names: [...systemServices, ...nodeServices] })],
    ['processes.json', async () => host.processes.list({ below: paths.base })],
    ['adapters.json', async () => host.adapters.list({})],
    ['routes.json', async () => host.routes.list({ destinations: ['0.0.0.0/0', '169.254.169.254/32'] })],
    ['networks.json', async () => host.networks.list({})],
    ['endpoints.json', async () => host.endpoints.list({})],
    ['policies.json', async () => host.policies.list({})],
    ['firewall.json', async () => host.firewall.list({ group: 'hyperkube' })],
  ]
  for (const [file, read] of inspections) {
    const output = await read().catch((error: unknown) => ({ error: formatError(error) }))
    yield { type: 'file', file, text: JSON.stringify(output, undefined, 2) }
  }
  yield { type: 'done' }
}

type RequestFor<T extends HostCallBody['type']> = Extract<HostCallBody, { type: T }>

/** Renames an uploaded file to its target if its size and digest are correct. */
async function acceptUpload(
  { host, paths }: HostCallContext,
  { temporary, target, size, sha256 }: RequestFor<'take'>,
): Promise<HostCallResponse['body']> {
  const { files } = host
  for (const path of [temporary, target]) rejectOutside(paths.base, path)
  const [length, found] = [await readHostFileSize(files, temporary), await readHostDigest(files, temporary)]
  if (length !== size || found !== sha256) {
    await files.remove(temporary)
    throw digestMismatchError(target, sha256, found ?? 'unknown')
  }
  await files.setAccess(temporary, { uid: 0, gid: 0, mode: 0o600 })
  // Flush the file to disk, because the uploader cannot do this.
  await files.syncTree(win32.dirname(temporary))
  await files.rename(temporary, target)
  return { type: 'done' }
}

/** Creates the upload directories and lists their files. A file with its final name is complete. */
async function listDeliveries(
  { host, paths }: HostCallContext,
  { folders }: RequestFor<'uploads'>,
): Promise<HostCallResponse['body']> {
  const { files } = host
  const found: { path: string; size: number }[] = []
  for (const folder of folders) {
    const directory = win32.join(paths.uploads, folder)
    await makeAdminOnlyDirectory(files, directory)
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((one) => !one.name.endsWith(unfinishedUploadSuffix))) {
      const size = await readHostFileSize(files, win32.join(directory, name))
      if (size !== undefined) found.push({ path: `${folder}/${name}`, size })
    }
  }
  return { type: 'uploads', files: found }
}

/**
 * Rejects paths outside `base`. Callers are administrators, so this only guards against bugs of hyperkube.
 */
function rejectOutside(base: string, path: string): void {
  const below = win32.relative(base, path)
  if (below !== '' && !below.startsWith('..') && !win32.isAbsolute(below)) return
  throw new HyperkubeError('UPLOAD_FAILED', `${path} is not below ${base}`)
}
