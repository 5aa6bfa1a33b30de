import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runProgram } from '../../src/kit/command.ts'
import { checkReleaseCommit, installSamePackages } from './released-executable.ts'

let repository: string
beforeEach(async () => {
  repository = await mkdtemp(join(tmpdir(), 'released-'))
  await git('init', '--quiet')
})
afterEach(async () => rm(repository, { recursive: true }))

async function git(...args: readonly string[]): Promise<string> {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return (await runProgram(['git', '-C', repository, ...identity, ...args])).stdout.trim()
}

async function commitNothing(message: string): Promise<string> {
  await git('commit', '--quiet', '--allow-empty', '--message', message)
  return git('rev-parse', 'HEAD')
}

test('a clone without the commit of a release is refused with the command that fetches it', async () => {
  await commitNothing('first')
  const released = { version: '0.1.0', commit: 'a'.repeat(40) }
  await expect(checkReleaseCommit(repository, released)).rejects.toThrow(
    `lacks the commit ${released.commit} of hyperkube 0.1.0; in a shallow clone run: git fetch --unshallow --tags`,
  )
})

test('the tag of a release must be its commit, and may be missing', async () => {
  const commit = await commitNothing('first')
  const released = { version: '0.1.0', commit }
  await checkReleaseCommit(repository, released)
  await git('tag', '--annotate', '--message', 'first', 'v0.1.0')
  await checkReleaseCommit(repository, released)
  const other = await commitNothing('second')
  await expect(checkReleaseCommit(repository, { ...released, commit: other })).rejects.toThrow(
    `the tag v0.1.0 is the commit ${commit}, but scripts/release/released.json has ${other}`,
  )
})

test('lock files are compared without the version of hyperkube', () => {
  const render = (version: string, zod: string): string =>
    JSON.stringify({ version, packages: { '': { version }, 'node_modules/zod': { version: zod } } })
  expect(installSamePackages(render('0.1.0', '4.6.7'), render('0.2.0', '4.6.7'))).toBe(true)
  expect(installSamePackages(render('0.1.0', '4.6.7'), render('0.2.0', '4.6.8'))).toBe(false)
})
