import { expect, test } from 'vitest'
import { etcdSchema } from './etcd.ts'

const s3 = {
  endpoint: 'https://s3.example:9000',
  bucket: 'backups',
  accessKey: { secret: 'backup-access' },
  secretKey: { secret: 'backup-secret' },
}

test('an S3 bucket needs an endpoint, a bucket and key names; other settings have defaults', () => {
  expect(etcdSchema.parse({})).toEqual({ backup: {} })
  expect(etcdSchema.parse({ backup: { s3, keep: 7 } }).backup).toEqual({
    s3: { ...s3, region: 'us-east-1' },
    keep: 7,
  })
})

test.each([
  ['a path in the endpoint', { endpoint: 'https://s3.example/backups' }],
  ['a password in the endpoint', { endpoint: 'https://me:secret@s3.example' }],
  ['another protocol', { endpoint: 'ftp://s3.example' }],
  ['an invalid bucket name', { bucket: 'Back/ups' }],
  ['a prefix with a leading slash', { prefix: '/shop/' }],
  ['a secret key in plain text', { secretKey: 'TOP SECRET' }],
])('%s is refused', (_, wrong) => {
  expect(etcdSchema.safeParse({ backup: { s3: { ...s3, ...wrong } } }).success).toBe(false)
})
