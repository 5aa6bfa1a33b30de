import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KeyUsage } from '../contract/certificate-spec.ts'
import { createCa } from './ca.ts'
import { inspectCertificate } from './certificates.ts'
import { encodeCertificate, loadAsn1 } from './encode-certificate.ts'
import { findSignatureAlgorithm, loadSigningKey } from './keys.ts'
import { validityFrom, year } from './lifetime.ts'
import { parseElements, parseNested } from './der.ts'
import { Secret } from './secret.ts'
import { buildX509Name, loadX509, namesExtension } from './x509.ts'

const now = new Date('2026-11-18T10:00:00Z')
const x509 = await loadX509()
const asn1 = await loadAsn1()
const publicKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey
const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))

interface Issuer {
  readonly certificate: string
  readonly privateKey: Secret
}

/** Creates a CA as other tools create them: any key, and a name with parts that hyperkube does not use. */
async function createForeignCa(key: ReturnType<typeof generateKeyPairSync>['privateKey']): Promise<Issuer> {
  const privateKey = new Secret('CA key', key.export({ type: 'pkcs8', format: 'pem' }).toString())
  const { key: signingKey, algorithm } = loadSigningKey(privateKey)
  const subject = new x509.Name([
    { C: [{ printableString: 'DE' }] },
    { CN: [{ utf8String: 'kube-ca é' }], OU: [{ printableString: 'x, y' }] },
  ])
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ serialNumber: '0a', subject, issuer: subject, ...validityFrom(now, 30 * year) },
    publicKey: new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' })),
    ...{ signingKey, signingAlgorithm: algorithm },
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  })
  return { certificate: certificate.toString('pem'), privateKey }
}

const issuers: Readonly<Record<string, Issuer>> = {
  hyperkube: await createCa('kubernetes', 30 * year, now),
  rsa: await createForeignCa(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
  'P-384': await createForeignCa(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey),
  'P-521': await createForeignCa(generateKeyPairSync('ec', { namedCurve: 'secp521r1' }).privateKey),
}

const contents = [
  {
    ...{ serial: '40000000000000000000000000000001', usages: ['client' as KeyUsage] },
    subject: { commonName: 'hyperkube:me', organizations: ['system:masters', 'a, b=c #d'] },
    names: { dns: [], ip: [] },
    validity: validityFrom(now, year),
  },
  {
    ...{ serial: '7fffffffffffffffffffffffffffffff', usages: ['server', 'client'] as KeyUsage[] },
    subject: { commonName: 'ünïcode', organizations: [] },
    names: { dns: ['cp1', 'localhost'], ip: ['127.0.0.1', 'fd00::a'] },
    // Times from 2050 have another encoding.
    validity: validityFrom(now, 40 * year),
  },
]

const cases = Object.keys(issuers).flatMap((issuer) =>
  contents.map((content) => [issuer, content.subject.commonName, content] as const),
)

test.each(cases)(
  'a certificate of the CA %s for %s has the same bytes as from the generator',
  async (name, _cn, content) => {
    const issuer = issuers[name]
    if (issuer === undefined) throw new Error(`there is no CA ${name}`)
    const { key: signingKey, algorithm: signingAlgorithm } = loadSigningKey(issuer.privateKey)
    const { subjectKeyId: keyId } = inspectCertificate(issuer.certificate)
    const { serial, subject, names, usages, validity } = content
    const wanted = await x509.X509CertificateGenerator.create({
      ...{ serialNumber: serial, subject: buildX509Name(x509, subject), ...validity },
      issuer: new x509.X509Certificate(issuer.certificate).subjectName,
      ...{ publicKey: spki, signingKey, signingAlgorithm },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(
          usages.map((usage) => x509.ExtendedKeyUsage[usage === 'server' ? 'serverAuth' : 'clientAuth']),
        ),
        await x509.SubjectKeyIdentifierExtension.create(spki),
        ...(keyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(keyId)]),
        ...namesExtension(x509, names),
      ],
    })
    const key = createPrivateKey(issuer.privateKey.revealText())
    const ca = new X509Certificate(issuer.certificate)
    const algorithm = findSignatureAlgorithm(key, 'CA key')
    const der = await encodeCertificate(
      asn1,
      { certificate: ca.raw, keyId, key, algorithm },
      { ...{ serial, subject, validity, usages, publicKey: spki }, extensions: namesExtension(x509, names) },
    )
    expect(new X509Certificate(der).verify(ca.publicKey)).toBe(true)
    // The signature of an elliptic curve is random, so only what it signs is compared.
    expect(listSignedParts(der)).toEqual(listSignedParts(new Uint8Array(wanted.rawData)))
    expect(key.asymmetricKeyType === 'rsa' ? der.equals(Buffer.from(wanted.rawData)) : true).toBe(true)
  },
)

/** Returns the signed content and the algorithm of a certificate, in hex. */
function listSignedParts(der: Uint8Array): string[] {
  expect(parseElements(der)[0]?.whole).toHaveLength(der.length)
  return parseNested(der)
    .slice(0, 2)
    .map(({ whole }) => Buffer.from(whole).toString('hex'))
}
