import { expect, test } from 'vitest'
import { etcdSchema } from './etcd.ts'

const s3 = {
  endpoint: 'https://s3.example:9000',
  bucket: 'backups',
  accessKey: { secret: 'backup-access' },
  secretKey: { secret: 'backup-secret' },
}

test('a bucket needs its place and the names of its keys; the rest has defaults', () => {
  expect(etcdSchema.parse({})).toEqual({ backup: {} })
  expect(etcdSchema.parse({ backup: { s3, keep: 7 } }).backup).toEqual({
    s3: { ...s3, region: 'us-east-1' },
    keep: 7,
  })
})

test.each([
  ['a path behind the endpoint', { endpoint: 'https://s3.example/backups' }],
  ['a password in the endpoint', { endpoint: 'https://me:secret@s3.example' }],
  ['another protocol', { endpoint: 'ftp://s3.example' }],
  ['a bucket that is none', { bucket: 'Back/ups' }],
  ['a prefix that leads elsewhere', { prefix: '/shop/' }],
  ['a key itself', { secretKey: 'TOP SECRET' }],
])('%s is refused', (_, wrong) => {
  expect(etcdSchema.safeParse({ backup: { s3: { ...s3, ...wrong } } }).success).toBe(false)
})
