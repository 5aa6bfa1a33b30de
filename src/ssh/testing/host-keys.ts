import { createHmac } from 'node:crypto'
import ssh2 from 'ssh2'

/** Builds a public key in OpenSSH format with any content, for tests. */
export function buildTestKey(content: string, type = 'ssh-ed25519'): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return `${type} ${Buffer.concat([length, Buffer.from(type), Buffer.from(content)]).toString('base64')}`
}

/** Hashes a name as `ssh-keygen -H` does. */
export function hashKnownHostsName(name: string, salt: Buffer): string {
  const hash = createHmac('sha1', salt).update(name).digest('base64')
  return `|1|${salt.toString('base64')}|${hash}`
}

/** A private key and its public key, both in OpenSSH format. */
export interface TestKeyPair {
  readonly private: string
  readonly public: string
}

/**
 * Generates key pairs until ssh2 can read one. ssh2 cannot read about 17 of 3000 ed25519 keys that it
 * generates.
 */
export function generateTestKeyPair(type: 'ed25519' | 'ecdsa'): TestKeyPair {
  for (;;) {
    const pair =
      type === 'ecdsa'
        ? ssh2.utils.generateKeyPairSync(type, { bits: 256 })
        : ssh2.utils.generateKeyPairSync(type)
    const isReadable = [pair.private, pair.public].every(
      (text) => !(ssh2.utils.parseKey(text) instanceof Error),
    )
    if (isReadable) return pair
  }
}
