import { expect, test } from 'vitest'
import { hostSchema, sshSchema } from './host.ts'

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const fingerprint = 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'

function isHostKey(hostKey: string): boolean {
  const host = { name: 'cp1', address: '10.0.0.1', roles: ['worker'], ssh: { hostKey } }
  return hostSchema.safeParse(host).success
}

test.each([key, `${key} root@cp1`, fingerprint])('ssh.hostKey may be %s', (hostKey) => {
  expect(isHostKey(hostKey)).toBe(true)
})

test.each([
  '',
  'SHA256:short',
  `${fingerprint}=`,
  'MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48',
  key.replace('ssh-ed25519', 'ssh-rsa'),
  key.slice(0, -1),
  `${key}\n${key}`,
])('ssh.hostKey cannot be %j', (hostKey) => {
  expect(isHostKey(hostKey)).toBe(false)
})

test('ssh.hostKey is allowed for a host or a bastion, not for all hosts', () => {
  expect(sshSchema.safeParse({ hostKey: key }).success).toBe(false)
  expect(sshSchema.safeParse({ bastion: { address: 'jump', hostKey: key } }).success).toBe(true)
})

test('a node cannot have the name of the API server', () => {
  const host = { name: 'w1', address: '10.0.0.1', roles: ['worker'] }
  expect(hostSchema.safeParse({ ...host, nodeName: 'kubernetes.default.svc' }).success).toBe(false)
  expect(hostSchema.safeParse({ ...host, nodeName: 'w1.example.com' }).success).toBe(true)
})
