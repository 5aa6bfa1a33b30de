import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { assert, asyncProperty, pre } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { byteMutation, mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { verifyBundle } from './archive.ts'
import { bundleDisk } from './disk.ts'
import { openBundle } from './open.ts'
import { bundleKeys, bytesAsFile, createTestBundleFile } from './testing/fixtures.ts'

async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

test('verification refuses a bundle with any mutated byte', { timeout: 120_000 }, async () => {
  await using file = await createTestBundleFile(bundleDisk())
  const whole = await readFile(file.path)
  const outcomes = new Map<string, number>()
  await assert(
    asyncProperty(byteMutation, async (mutate) => {
      const bytes = mutate(whole)
      pre(!bytes.equals(whole))
      const outcome = await verifyBundle(chunked(bytes), bundleKeys.publicKey).then(
        () => 'accepted',
        readCode,
      )
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      expect(outcome).toMatch(/^BUNDLE_[A-Z_]+$/)
    }),
    mutationRuns,
  )
  printMutations('bundle, read from start to end', outcomes)
})

test(
  'a file read from a mutated bundle has its original bytes, or reading fails with a code',
  { timeout: 120_000 },
  async () => {
    await using file = await createTestBundleFile(bundleDisk())
    const whole = await readFile(file.path)
    const outcomes = new Map<string, number>()
    await assert(
      asyncProperty(byteMutation, async (mutate) => {
        const outcome = await readMembers(mutate(whole)).catch(readCode)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        expect(outcome).toMatch(/^(read|BUNDLE_[A-Z_]+)$/)
      }),
      mutationRuns,
    )
    printMutations('bundle, its files read', outcomes)
  },
)

async function readMembers(bytes: Buffer): Promise<string> {
  const bundle = await openBundle(bytesAsFile(bytes), bundleKeys.publicKey)
  for (const member of bundle.manifest.members) {
    const hash = createHash('sha256')
    for await (const piece of bundle.content(member)) hash.update(piece)
    expect(hash.digest('hex')).toBe(member.sha256)
    // Paths are relative and never lead up, so that nothing can be written outside of a directory.
    expect(member.path).toMatch(/^(?!.*\.\.)[a-z]/)
  }
  return 'read'
}

function readCode(error: unknown): string {
  return error instanceof HyperkubeError ? error.code : String(error)
}
