import { expect, test } from 'vitest'
import { isUnencrypted, locateArtifact } from './artifact-source.ts'

const url = 'https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet'
const path = 'dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet'

test.each([
  ['upstream', url],
  [{ bundle: 'lab.bundle' }, url],
  [{ mirror: 'https://mirror.example' }, `https://mirror.example/${path}`],
  [{ mirror: 'https://mirror.example/' }, `https://mirror.example/${path}`],
  [{ mirror: 'http://10.0.0.1:8080/k8s//' }, `http://10.0.0.1:8080/k8s/${path}`],
] as const)('with source %o the artifact URL is %s', (source, at) => {
  expect(locateArtifact(url, source)).toBe(at)
})

test.each([
  'https://m.example/?a=b',
  'https://m.example/#a',
  'ftp://m.example',
  'm.example',
  'https://me:hunter2@m.example',
])('%s is refused as a mirror base', (mirror) => {
  expect(() => locateArtifact(url, { mirror })).toThrow(
    expect.objectContaining({ code: 'MIRROR_NOT_A_BASE' }),
  )
  expect(() => locateArtifact(url, { mirror })).not.toThrow('hunter2')
})

test('only a mirror may use unencrypted HTTP', () => {
  const plain = 'http://dl.k8s.io/x'
  expect(() => locateArtifact(plain, 'upstream')).toThrow(expect.objectContaining({ code: 'URL_NOT_HTTPS' }))
  expect(isUnencrypted('upstream')).toBe(false)
  expect(isUnencrypted({ mirror: 'https://m.example' })).toBe(false)
  expect(isUnencrypted({ mirror: 'HTTP://m.example' })).toBe(true)
})
