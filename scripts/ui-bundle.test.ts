import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webAssets } from '../src/ui/web-files.ts'
import { bundleInterface } from './ui-bundle.ts'

const maxBytes = 150_000
let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-ui-'))
  await bundleInterface(directory)
})
afterAll(async () => rm(directory, { recursive: true }))

test('the bundle has the two files of the executable, at most 150 KB with gzip', async () => {
  expect((await readdir(directory)).toSorted()).toEqual(Object.values(webAssets).toSorted())
  const parts = Object.values(webAssets).map(async (name) => readFile(join(directory, name)))
  const sizes = (await Promise.all(parts)).map((content) => gzipSync(content).length)
  expect(sizes.every((size) => size > 500)).toBe(true)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes)
})

test('the bundle loads nothing from other hosts, and evaluates no text', async () => {
  const script = await readFile(join(directory, webAssets.script), 'utf8')
  const style = await readFile(join(directory, webAssets.style), 'utf8')
  // The only addresses are the names of XML namespaces.
  const addresses = [...script.matchAll(/https?:\/\/[^"'`\s]+/g)].map(([address]) => address)
  expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([])
  expect(script).not.toMatch(/\beval\(|new Function\(|localStorage|sessionStorage/)
  expect(style).not.toMatch(/url\(|@import/)
})
