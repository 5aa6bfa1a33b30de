import { expect, test } from 'vitest'
import { createIdentity } from './identity.ts'
import { buildSigningKey } from './signing-key.ts'
import { secretFiles } from './secret-files.ts'

test('no file of a host contains an operator key', async () => {
  const identity = await createIdentity('lab', new Date())
  const files = [...secretFiles(identity).values()].map((secret) => Buffer.from(secret.reveal()))
  for (const key of Object.values(identity.operatorKeys)) {
    const bytes = Buffer.from(key.reveal())
    const forms = [bytes, bytes.toString('base64'), bytes.toString('hex')]
    expect(files.filter((file) => forms.some((form) => file.includes(form)))).toEqual([])
  }
})

test('the signing key does not depend on CA keys', async () => {
  const identity = await createIdentity('lab', new Date())
  const { operatorKeys } = await createIdentity('other', new Date())
  const [own, other] = [identity, { ...identity, operatorKeys }].map((one) =>
    buildSigningKey(one).publicKey.export({ format: 'der', type: 'spki' }).toString('hex'),
  )
  expect(other).not.toBe(own)
})
