import { expect, test } from 'vitest'
import type { CommandResult } from '../../kit/command.ts'
import { createCtrImages, parseImageList } from './ctr-images.ts'
import { createPathMapper } from './local-files.ts'

const digest = `sha256:${'0'.repeat(64)}`
/** Output of `ctr images ls`. A size consists of two words. */
const table = `REF                          TYPE                                       DIGEST                                                                  SIZE      PLATFORMS   LABELS
registry.k8s.io/pause:3.10.2 application/vnd.oci.image.manifest.v1+json ${digest} 272.2 KiB linux/amd64 io.cri-containerd.image=managed,io.cri-containerd.pinned=pinned
`

function createRuntime(result: Partial<CommandResult>) {
  const ran: string[] = []
  const images = createCtrImages(createPathMapper('/'), async (argv) => {
    ran.push(argv.join(' '))
    return { code: 0, stdout: '', stderr: '', ...result }
  })
  return { images, ran }
}

test('a list of images is parsed, also an empty one', () => {
  expect(parseImageList(table)).toEqual(new Map([['registry.k8s.io/pause:3.10.2', digest]]))
  expect(parseImageList('REF TYPE DIGEST SIZE PLATFORMS LABELS \n')).toEqual(new Map())
})

test('only the requested images are queried', async () => {
  const { images, ran } = createRuntime({ stdout: table })
  await images.find('/opt/ctr', ['a/b:1', `a/b@${digest}`])
  expect(ran).toEqual([`/opt/ctr --connect-timeout=2s -n k8s.io images ls name==a/b:1 name==a/b@${digest}`])
})

test('a name that another process assigns at the same time is assigned again', async () => {
  const errors = ['ctr: image "a/b:1": already exists', '']
  const ran: string[] = []
  const images = createCtrImages(createPathMapper('/'), async (argv) => {
    ran.push(argv.join(' '))
    const stderr = errors.shift() ?? ''
    return { code: stderr === '' ? 0 : 1, stdout: '', stderr }
  })
  await images.rename('/opt/ctr', `a/b@${digest}`, 'a/b:1')
  expect(ran).toHaveLength(2)
  expect(new Set(ran)).toEqual(new Set([`/opt/ctr -n k8s.io images tag --local --force a/b@${digest} a/b:1`]))
})

test('a runtime that does not respond returns undefined', async () => {
  expect(await createRuntime({ code: 1 }).images.find('/opt/ctr', ['a/b:1'])).toBeUndefined()
})
