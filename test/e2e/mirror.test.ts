import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { machineArch } from '../../lab/engine/build.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { openMirror } from '../../lab/mirror/open.ts'
import { publicationsOf } from '../../lab/mirror/publication.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { silentReport } from '../../lab/report.ts'
import { freshLab } from '../support/lab.ts'

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
