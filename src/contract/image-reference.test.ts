import { expect, test } from 'vitest'
import { listRuntimeNames, parseImage, pinDigest, stripDigest } from './image-reference.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

test('a name in full has a registry, a repository, and what tells one image from another', () => {
  expect(parseImage(`registry.k8s.io/coredns/coredns:v1.15.0@${digest}`)).toEqual({
    registry: 'registry.k8s.io',
    repository: 'coredns/coredns',
    tag: 'v1.15.0',
    digest,
  })
  expect(parseImage('localhost:5000/a:1')).toMatchObject({
    registry: 'localhost:5000',
    repository: 'a',
    tag: '1',
  })
  expect(parseImage(`docker.io/library/busybox@${digest}`)).toMatchObject({ tag: undefined, digest })
})

test.each(['busybox', 'a/b:1@sha256:abc', 'a/b:', 'a/b@1', '/b:1', 'a b/c:1', ''])('%j is none', (text) => {
  expect(parseImage(text)).toBeUndefined()
})

test('a digest is put behind a name, in the place of another, and taken away again', () => {
  const pinned = pinDigest('registry.k8s.io/pause:3.10.2', digest)
  expect(pinned).toBe(`registry.k8s.io/pause:3.10.2@${digest}`)
  expect(pinDigest(pinned, digest)).toBe(pinned)
  expect(stripDigest(pinned)).toBe('registry.k8s.io/pause:3.10.2')
})

test('a runtime keeps a pinned image by its digest and by its tag, another one by its name', () => {
  expect(listRuntimeNames(`registry.k8s.io/pause:3.10.2@${digest}`)).toEqual([
    `registry.k8s.io/pause@${digest}`,
    'registry.k8s.io/pause:3.10.2',
  ])
  expect(listRuntimeNames('registry.k8s.io/pause:3.10.2')).toEqual(['registry.k8s.io/pause:3.10.2'])
})
