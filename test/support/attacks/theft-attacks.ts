import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secretFiles } from '../../../src/identity/secret-files.ts'
import type { Attack, AttackContext, AttackResult } from './attack.ts'
import { victimSecret } from './tenant-attacks.ts'

/** Attacks with cluster.identity, but without its key. */
export function buildIdentityAttacks({ cluster }: AttackContext): Attack[] {
  const attacker = 'thief of cluster.identity' as const
  const { directory, identity } = cluster
  const tryKey = async (content: Buffer | string): Promise<AttackResult> => {
    const key = join(directory, 'guessed.key')
    await writeFile(key, content, { mode: 0o600 })
    const { code, stdout, stderr } = await cluster.hyperkube('kubeconfig', '--key', key)
    return { refused: code !== 0 && stdout === '', details: stderr }
  }
  return [
    {
      attacker,
      what: 'open it with a random key',
      run: async () => tryKey(randomBytes(32).toString('base64')),
    },
    { attacker, what: 'open it with an empty key', run: async () => tryKey('') },
    {
      attacker,
      what: 'find a secret in its bytes',
      run: async () => {
        const bytes = await readFile(join(directory, 'cluster.identity'))
        const found = [...secretFiles(identity)].filter(([, secret]) =>
          bytes.includes(Buffer.from(secret.reveal()).subarray(0, 60)),
        )
        return {
          refused: found.length === 0 && !bytes.includes('PRIVATE KEY'),
          details: `${found.length} found`,
        }
      },
    },
  ]
}

/** Attacks with a snapshot of etcd, but without the key of the identity. */
export function buildSnapshotAttacks({ cluster }: AttackContext): Attack[] {
  const attacker = 'thief of a snapshot' as const
  const { directory, operator } = cluster
  const findInSnapshot = async (name: string, text: string): Promise<AttackResult> => {
    await operator.must(0, 'etcd', 'snapshot', 'save', name, '--to', directory)
    const bytes = await readFile(join(directory, `${name}.snapshot`))
    return { refused: !bytes.includes(text), details: `${bytes.length} bytes` }
  }
  return [
    { attacker, what: 'read a Secret', run: async () => findInSnapshot('stolen-1', victimSecret) },
    { attacker, what: 'read a private key', run: async () => findInSnapshot('stolen-2', 'PRIVATE KEY') },
  ]
}
