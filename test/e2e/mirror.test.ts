import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { machineArch } from '../../lab/engine/build.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { openMirror } from '../../lab/mirror/open.ts'
import { publicationsOf } from '../../lab/mirror/publication.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { silentReport } from '../../lab/report.ts'
import { run } from '../../src/kit/command.ts'
import { freshLab } from '../support/lab.ts'

const lockSchema = z.object({ artifacts: z.array(z.object({ url: z.string(), sha256: z.string() })) })

let lab: Lab
let mirror: Mirror

beforeAll(async () => {
  lab = await freshLab('mirror')
  mirror = await openMirror(lab, {
    parts: selectParts(),
    cache: cacheDirectory(),
    report: silentReport,
    port: 0,
  })
})
afterAll(async () => {
  try {
    await mirror.close()
  } finally {
    await lab.down()
  }
})

const arch = machineArch()
const publications = selectParts().flatMap((part) => publicationsOf(part, arch))
const checksums = publications.filter((publication) => publication.kind === 'checksum')

async function get(path: string): Promise<Buffer> {
  const answer = await fetch(`${mirror.address}/${path}`)
  expect(answer.status, path).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

test.each(checksums)('$path agrees with what is served', async ({ path, of }) => {
  const line = (await get(path)).toString().trim()
  const [digest, file] = line.split(/ [ *]/)
  expect(digest).toBe(
    createHash('sha256')
      .update(await get(of))
      .digest('hex'),
  )
  expect(file ?? basename(of)).toBe(basename(of))
})

test('nothing outside the mirror is served', async () => {
  for (const path of ['etc/passwd', `${'..%2f'.repeat(20)}etc%2fpasswd`, 'dl.k8s.io']) {
    expect((await fetch(`${mirror.address}/${path}`)).status, path).toBe(404)
  }
})

test('hyperkube lock pins what the mirror serves, file by file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lock-'))
  try {
    const file = join(directory, 'cluster.yml')
    const hyperkube = [process.execPath, join(import.meta.dirname, '../../src/main.ts')] as const
    await run([...hyperkube, 'init', '-f', file, '--host', '10.0.0.1=control-plane'], {
      env: { XDG_CONFIG_HOME: directory },
    })
    await appendFile(file, `  artifacts: { mirror: ${mirror.address} }\n`)
    await run([...hyperkube, 'lock', '-f', file, '--arch', arch])
    const lock = lockSchema.parse(parse(await readFile(join(directory, 'cluster.lock'), 'utf8')))
    expect(lock.artifacts.length).toBeGreaterThanOrEqual(12)
    for (const { url, sha256 } of lock.artifacts) {
      const served = await get(url.replace(/^https:\/\//, ''))
      expect(createHash('sha256').update(served).digest('hex'), url).toBe(sha256)
    }
    const again = await run([...hyperkube, 'lock', '-f', file, '--arch', arch, '--check'])
    expect(again).toMatchObject({
      code: 0,
      stdout: `${join(directory, 'cluster.lock')}: nothing to change\n`,
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
