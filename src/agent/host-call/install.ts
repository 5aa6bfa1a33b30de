import { win32 } from 'node:path'
import { type ComponentPlan, emptyComponent, type PlannedArtifact } from '../../contract/component-plan.ts'
import type { HostCallBody, HostCallResponse } from '../../contract/host-call.ts'
import { uploadedFilePath } from '../../contract/host-paths.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { emptyLedger } from '../records/ledger.ts'
import { artifactHandler } from '../resources/artifact.ts'
import { dirname, join } from '../host/host-path.ts'
import type { WindowsHost } from '../host/host.ts'
import {
  copyAdminOnly,
  copyProgram,
  type HostCallContext,
  makeAdminOnlyDirectory,
  makeInheritedDirectory,
  readHostDigest,
} from './host-call-context.ts'
import {
  agentName,
  findWindowsService,
  isAgentProvisional,
  readCurrentVersion,
  switchAgent,
} from './switch-agent.ts'

/**
 * Placeholder for the cluster of the plan that installs the artifact, because no cluster owns the host yet.
 */
const noCluster = { name: 'none', id: '00000000-0000-4000-8000-000000000000' }

/** Installs an artifact in the same way as apply, so the first apply does not install it again. */
async function installArtifact(host: WindowsHost, artifact: PlannedArtifact): Promise<void> {
  const component: ComponentPlan = {
    ...emptyComponent(),
    name: 'hyperkube-agent',
    stage: 'prepare',
    artifacts: [artifact],
  }
  const work = {
    host,
    ledger: emptyLedger(noCluster),
    plan: buildEmptyPlan(noCluster, 'this'),
    component,
    head: { name: `${artifact.name}-${artifact.version}`, digest: '', owners: [] },
    secrets: new Map(),
    certificates: new Map(),
    emit: () => undefined,
    signal: new AbortController().signal,
  }
  await artifactHandler.make(artifact, work, undefined)
}

type RequestFor<T extends HostCallBody['type']> = Extract<HostCallBody, { type: T }>

/** Returns the state of the installed agent and whether the caller is an administrator. */
export async function readAgentStatus(context: HostCallContext): Promise<HostCallResponse['body']> {
  const described = await context.host.operations.system.describe({})
  const service = await findWindowsService(context, agentName)
  const version = service === undefined ? undefined : await readCurrentVersion(context)
  return {
    type: 'status',
    ...(version === undefined ? {} : { version }),
    running: service?.state === 'Running',
    provisional: await isAgentProvisional(context),
    administrator: described?.administrator ?? false,
    arch: context.arch,
  }
}

/**
 * Copies the running program to its final path, restricts the directory to administrators and makes the
 * program the host's agent.
 */
export async function installWindowsAgent(
  context: HostCallContext,
  request: RequestFor<'install'>,
): Promise<HostCallResponse['body']> {
  const { host, paths } = context
  const { files, release } = host
  const { version, sha256, artifact } = request
  const described = await host.operations.system.describe({})
  if (described?.administrator !== true) throw notAdministratorError()
  const found = await release.digest()
  if (found !== sha256) throw digestMismatchError(release.executable, sha256, found)
  // First restrict the directories to administrators. By default every user can create files below C:\, for
  // example a DLL next to a program that is about to run.
  for (const directory of [paths.base, paths.state]) await makeAdminOnlyDirectory(files, directory)
  const target = paths.program(version)
  if ((await readHostDigest(files, target)) !== sha256) {
    await makeInheritedDirectory(files, win32.dirname(target))
    await copyProgram(files, release.executable, target)
  }
  await acceptBundledFile(context, request)
  await installArtifact(host, artifact)
  return switchAgent(context, version, request)
}

/**
 * Copies the artifact's file into the upload directory, so that apply finds it there and does not download
 * it. The client has uploaded this file (`beside`) next to the program.
 */
async function acceptBundledFile(
  { host, paths }: HostCallContext,
  { beside, artifact }: RequestFor<'install'>,
): Promise<void> {
  if (beside === undefined || artifact.from !== 'url') return
  const { files, release } = host
  const { sha256 } = artifact
  const target = win32.join(paths.uploads, ...uploadedFilePath(sha256).split('/'))
  await makeAdminOnlyDirectory(files, win32.dirname(target))
  await copyAdminOnly(files, join(dirname(release.executable), beside), target)
  const found = await files.digest(target)
  if (found === sha256) return
  await files.remove(target)
  throw digestMismatchError(beside, sha256, found)
}

function notAdministratorError(): HyperkubeError {
  return new HyperkubeError('SSH_NO_ADMINISTRATOR', 'the ssh user is not an administrator of the host', {
    hint: 'set ssh.user in cluster.yml to a member of the group Administrators on the host',
  })
}

export function digestMismatchError(path: string, expected: string, found: string): HyperkubeError {
  const message = `${path} is incomplete: its SHA-256 is ${found}, expected ${expected}`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, { hint: 'run the same command again' })
}
