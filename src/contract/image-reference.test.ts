import { expect, test } from 'vitest'
import { listRuntimeNames, parseImage, pinDigest, stripDigest } from './image-reference.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

test('an image reference is parsed into registry, repository, tag and digest', () => {
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

test.each(['busybox', 'a/b:1@sha256:abc', 'a/b:', 'a/b@1', '/b:1', 'a b/c:1', ''])(
  '%j is not a full image reference',
  (text) => {
    expect(parseImage(text)).toBeUndefined()
  },
)

test('a digest is added to a reference, and stripped again', () => {
  const pinned = pinDigest('registry.k8s.io/pause:3.10.2', digest)
  expect(pinned).toBe(`registry.k8s.io/pause:3.10.2@${digest}`)
  expect(pinDigest(pinned, digest)).toBe(pinned)
  expect(stripDigest(pinned)).toBe('registry.k8s.io/pause:3.10.2')
})

test('a pinned image has two runtime names, by digest and by tag, and another image has one', () => {
  expect(listRuntimeNames(`registry.k8s.io/pause:3.10.2@${digest}`)).toEqual([
    `registry.k8s.io/pause@${digest}`,
    'registry.k8s.io/pause:3.10.2',
  ])
  expect(listRuntimeNames('registry.k8s.io/pause:3.10.2')).toEqual(['registry.k8s.io/pause:3.10.2'])
})
