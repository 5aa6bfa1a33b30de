import packageFile from '../../package.json' with { type: 'json' }
import { runProgram } from '../../src/kit/command.ts'

/** The commit from which a release is made. */
export interface ReleaseSource {
  readonly version: string
  readonly commit: string
  /** Time of the commit in seconds. All files of the release have this time. */
  readonly epoch: number
  /** False for a test release, whose commit has no tag or whose tree has changes. */
  readonly isTagged: boolean
}

/** Reads the commit. Throws if it is not a clean tag, unless `allowUntagged` is set. */
export async function readReleaseSource(root: string, allowUntagged: boolean): Promise<ReleaseSource> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await runProgram(['git', '-C', root, ...args])).stdout.trim()
  const { version } = packageFile
  const commit = await git('rev-parse', 'HEAD')
  const tags = (await git('tag', '--points-at', 'HEAD')).split('\n')
  const changes = await git('status', '--porcelain')
  const isTagged = tags.includes(`v${version}`) && changes === ''
  if (!isTagged && !allowUntagged)
    throw new Error(
      changes === ''
        ? `the commit has no tag v${version}; for a test release use --allow-untagged`
        : 'the working tree has changes; commit them, or use --allow-untagged for a test release',
    )
  return { version, commit, epoch: Number(await git('log', '-1', '--format=%ct')), isTagged }
}
