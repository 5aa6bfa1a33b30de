import { win32 } from 'node:path'
import { deliveredFile } from '../../../contract/uploads.ts'
import type { HostAnswer, HostAsk } from '../../../contract/host-call.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { dirname, join } from '../../host/host-path.ts'
import { closedDirectory, copyClosed, copyProgram, digestOf, plainDirectory } from './host-files.ts'
import { putArtifact } from './put-artifact.ts'
import type { CallScene } from './host-call-context.ts'
import { agentName, changeTo, currentVersion, isOnTrial, serviceNamed } from './switch-agent.ts'

type AskFor<T extends HostAsk['type']> = Extract<HostAsk, { type: T }>

/** What there is of us, and whether whoever asks may change it. */
export async function look(scene: CallScene): Promise<HostAnswer['answer']> {
  const described = await scene.host.operations.system.describe({})
  const service = await serviceNamed(scene, agentName)
  const version = service === undefined ? undefined : await currentVersion(scene)
  return {
    type: 'look',
    ...(version === undefined ? {} : { version }),
    running: service?.state === 'Running',
    onTrial: await isOnTrial(scene),
    administrator: described?.administrator ?? false,
    arch: scene.arch,
  }
}

/** Puts the program that is called in its place, closed to all but administrators, and makes it the host's agent. */
export async function install(scene: CallScene, wish: AskFor<'install'>): Promise<HostAnswer['answer']> {
  const { host, places } = scene
  const { files, release } = host
  const { version, sha256, artifact } = wish
  const described = await host.operations.system.describe({})
  if (described?.administrator !== true) throw noAdministrator()
  const found = await release.digest()
  if (found !== sha256) throw notWhole(release.executable, sha256, found)
  // Others may put files below C:\ until they are kept out, also beside a program that is about to run.
  for (const directory of [places.base, places.state]) await closedDirectory(files, directory)
  const target = places.program(version)
  if ((await digestOf(files, target)) !== sha256) {
    await plainDirectory(files, win32.dirname(target))
    await copyProgram(files, release.executable, target)
  }
  await takeBeside(scene, wish)
  await putArtifact(host, artifact)
  return changeTo(scene, version, wish)
}

/** Puts what was brought together with the program where what is fetched is looked for first. */
async function takeBeside(
  { host, places }: CallScene,
  { beside, artifact }: AskFor<'install'>,
): Promise<void> {
  if (beside === undefined || artifact.from !== 'url') return
  const { files, release } = host
  const { sha256 } = artifact
  const target = win32.join(places.delivered, ...deliveredFile(sha256).split('/'))
  await closedDirectory(files, win32.dirname(target))
  await copyClosed(files, join(dirname(release.executable), beside), target)
  const found = await files.digest(target)
  if (found === sha256) return
  await files.remove(target)
  throw notWhole(beside, sha256, found)
}

function noAdministrator(): HyperkubeError {
  return new HyperkubeError('SSH_NO_ADMINISTRATOR', 'whoever logs in is no administrator of the host', {
    hint: 'set ssh.user in cluster.yml to a member of its group Administrators',
  })
}

export function notWhole(path: string, expected: string, found: string): HyperkubeError {
  const message = `${path} is not whole: its SHA-256 should be ${expected}, and is ${found}`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, { hint: 'run the same command again' })
}
