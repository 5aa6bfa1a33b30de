import { randomBytes } from 'node:crypto'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { resolveAccess } from '../../apply/planned-access.ts'
import { downloadArtifact } from '../../apply/download.ts'
import { unfinishedSuffix } from '../../host/files.ts'
import type { WindowsHost } from '../../host/host.ts'
import { basename, dirname, isBelow, join } from '../../host/host-path.ts'
import type { WorkerProgramSpec } from '../reconcile/worker-spec.ts'

/** Writes a program from the artifacts of a plan to the path `to`. */
export async function fetchProgram(
  host: WindowsHost,
  { components }: NodePlan,
  { path }: WorkerProgramSpec,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const { files, release } = host
  const access = await resolveAccess(host, { owner: 'root', mode: '0755' })
  const match = components
    .flatMap(({ name, artifacts }) => artifacts.map((artifact) => ({ component: name, artifact })))
    .find(({ artifact }) => isBelow(path, artifact.directory))
  if (match === undefined)
    throw new HyperkubeError('APPLY_OP_FAILED', `the plan does not say where ${path} is from`)
  const { artifact, component } = match
  if (artifact.from === 'this-release') {
    await files.copyIn(release.executable, to, access)
    return
  }
  await files.remove(to)
  const fetched = await downloadArtifact(artifact, { host, component, emit: () => undefined, signal })
  if (artifact.unpack.kind === 'program') {
    await files.rename(fetched, to)
    return
  }
  const directory = dirname(artifact.directory)
  const unpacked = join(
    directory,
    `.${basename(artifact.directory)}.${randomBytes(8).toString('hex')}${unfinishedSuffix}`,
  )
  try {
    await files.makeDirectory(unpacked, access)
    await host.tar.unpack({ path: fetched, into: unpacked, strip: artifact.unpack.strip }, signal)
    await files.rename(join(unpacked, path.slice(artifact.directory.length + 1)), to)
  } finally {
    await files.removeTree(unpacked)
  }
  await files.remove(fetched)
}
