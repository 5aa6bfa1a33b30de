import { createHash } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

/**
 * Writes the CRDs of the Gateway API to src/addons/built-in/gateway-api.json. The argument is the directory of
 * the Go module in the module cache, where `go mod download sigs.k8s.io/gateway-api@VERSION` puts it after a
 * check against go.sum.
 */
const target = join(import.meta.dirname, '../src/addons/built-in/gateway-api.json')
const goModuleName = 'sigs.k8s.io/gateway-api'

const schema = z.looseObject({
  apiVersion: z.literal('apiextensions.k8s.io/v1'),
  kind: z.literal('CustomResourceDefinition'),
  metadata: z.looseObject({ name: z.string() }),
})

async function main([directory]: readonly string[]): Promise<void> {
  const version = /@(v[\d.]+)$/.exec(basename(directory ?? ''))?.[1]
  if (directory === undefined || version === undefined)
    throw new Error('usage: node scripts/gateway-api.ts GOMODCACHE/sigs.k8s.io/gateway-api@VERSION')
  const source = 'config/crd/standard'
  const files = (await readdir(join(directory, source))).filter((file) => file.endsWith('.yaml')).toSorted()
  const crds = await Promise.all(files.map(async (file) => readCrd(join(directory, source, file))))
  const content = { goModule: goModuleName, version, license: 'Apache-2.0', source, crds }
  await writeFile(target, `${JSON.stringify(content, null, 2)}\n`)
}

async function readCrd(path: string): Promise<{ file: string; sha256: string; manifest: string }> {
  const text = await readFile(path, 'utf8')
  // Upstream's files contain an empty status, which only the API server may write.
  const { status: _status, ...manifest } = schema.parse(parse(text))
  return {
    file: basename(path),
    sha256: createHash('sha256').update(text).digest('hex'),
    manifest: JSON.stringify(manifest),
  }
}

await main(process.argv.slice(2))
