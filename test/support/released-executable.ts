import { copyFile, mkdir, readFile, realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { cacheDirectory, digestRecipe, ensureCached } from '../../lab/cache.ts'
import { currentTarget, findTarget } from '../../scripts/executable/runtime.ts'
import type { ReleasedVersion } from '../../scripts/release/released.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'

const root = join(import.meta.dirname, '../..')

/**
 * Builds the executable of a released version from its commit, with the scripts and dependencies of that
 * commit. The result is in the cache of the lab, so a machine builds each version once. Returns its path.
 */
export async function buildReleasedExecutable(released: ReleasedVersion): Promise<string> {
  const { version, commit } = released
  await checkReleaseCommit(root, released)
  const target = currentTarget()
  // The commit pins all dependencies, and the runtime is one of them.
  const name = `hyperkube-${version}-${target}-${digestRecipe(`${commit} ${target}`)}`
  const directory = await ensureCached(join(cacheDirectory(), 'releases', name), async (unfinished) => {
    const source = join(unfinished, 'source')
    await unpackCommit(commit, source)
    await installDependencies(source)
    const node = join(source, 'node_modules/.bin/node')
    const { stdout } = await runProgram([node, 'scripts/executable.ts', target], { cwd: source })
    const [executable = '', compressed = ''] = stdout.trim().split('\n')
    await copyFile(executable, join(unfinished, findTarget(target).output))
    await copyFile(compressed, join(unfinished, `${findTarget(target).output}.gz`))
    await rm(source, { recursive: true })
  })
  return join(directory, findTarget(target).output)
}

/** Reads a file as it was in the commit of a released version. */
export async function readReleasedFile({ commit }: ReleasedVersion, path: string): Promise<string> {
  return (await git(root, ['show', `${commit}:${path}`])).stdout
}

/** Throws unless a repository has the commit of a released version. Its tag, if there is one, must match. */
export async function checkReleaseCommit(
  repository: string,
  { version, commit }: ReleasedVersion,
): Promise<void> {
  const found = await git(repository, ['cat-file', '-e', `${commit}^{commit}`], { allowFailure: true })
  if (found.code !== 0)
    throw new Error(
      `${repository} lacks the commit ${commit} of hyperkube ${version}; in a shallow clone run: git fetch --unshallow --tags (${found.stderr.trim()})`,
    )
  const tag = `v${version}`
  const revision = `refs/tags/${tag}^{commit}`
  const tagged = await git(repository, ['rev-parse', '--verify', '--quiet', revision], { allowFailure: true })
  if (tagged.code === 0 && tagged.stdout.trim() !== commit)
    throw new Error(
      `the tag ${tag} is the commit ${tagged.stdout.trim()}, but scripts/release/released.json has ${commit}`,
    )
}

async function git(
  repository: string,
  args: readonly string[],
  options: { readonly allowFailure?: boolean } = {},
): Promise<CommandResult> {
  return runProgram(['git', '-C', repository, ...args], options)
}

async function unpackCommit(commit: string, directory: string): Promise<void> {
  await mkdir(directory)
  const archive = join(directory, 'source.tar')
  await git(root, ['archive', `--output=${archive}`, commit])
  await runProgram(['tar', '-xf', archive, '-C', directory])
  await rm(archive)
}

/** Uses the packages of this checkout if they are the same as those of the commit. */
async function installDependencies(source: string): Promise<void> {
  const [own, theirs] = await Promise.all(
    [root, source].map(async (directory) => readFile(join(directory, 'package-lock.json'), 'utf8')),
  )
  if (own !== undefined && theirs !== undefined && installSamePackages(own, theirs))
    await symlink(await realpath(join(root, 'node_modules')), join(source, 'node_modules'))
  else await runProgram(['npm', 'ci', '--prefix', source, '--no-audit', '--no-fund'], { cwd: source })
}

const lockFile = z.looseObject({ packages: z.record(z.string(), z.unknown()) })

/** True if two lock files of npm install the same packages. The entry of hyperkube itself is ignored. */
export function installSamePackages(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => {
    const { '': _, ...packages } = lockFile.parse(JSON.parse(text)).packages
    return JSON.stringify(packages)
  })
  return left === right
}
