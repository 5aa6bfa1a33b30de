import { createHash, type KeyObject, sign, type SignKeyObjectInput } from 'node:crypto'
import { promisify } from 'node:util'
import type { KeyUsage } from '../contract/certificate-spec.ts'
import type { SignatureAlgorithm } from './keys.ts'
import type { Validity } from './lifetime.ts'
import type { CertificateSubject } from './names.ts'

/** Loads the ASN.1 schemas of X.509 only when they are needed, because loading takes 50 ms. */
export async function loadAsn1() {
  const [{ AsnConvert, OctetString }, types] = await Promise.all([
    import('@peculiar/asn1-schema'),
    import('@peculiar/asn1-x509'),
  ])
  return { AsnConvert, OctetString, ...types }
}

export type Asn1 = Awaited<ReturnType<typeof loadAsn1>>

/** A certificate of a client or server, before it is signed. */
export interface CertificateContent {
  /** Serial number in hex. */
  readonly serial: string
  readonly subject: CertificateSubject
  readonly validity: Validity
  readonly usages: readonly KeyUsage[]
  /** SubjectPublicKeyInfo as DER. */
  readonly publicKey: Uint8Array
  /** Extensions that follow the key identifiers. */
  readonly extensions: readonly EncodedExtension[]
}

/** An extension that is not critical, with its value as DER. */
interface EncodedExtension {
  readonly type: string
  readonly value: ArrayBuffer
}

export interface CertificateIssuer {
  /** Certificate of the CA as DER. */
  readonly certificate: Uint8Array
  /** Key identifier of the CA in hex. Old CAs of other tools may have none. */
  readonly keyId: string | undefined
  readonly key: KeyObject
  readonly algorithm: SignatureAlgorithm
}

const signInThread = promisify(
  (
    hash: string,
    data: Uint8Array,
    key: SignKeyObjectInput,
    done: (error: Error | null, signature: Buffer) => void,
  ) => sign(hash, data, key, done),
)

/**
 * Encodes and signs a certificate, and returns it as DER. The generator of the X.509 library returns the same
 * bytes. It parses each part again that it has encoded, and so takes three times as long.
 */
export async function encodeCertificate(
  asn1: Asn1,
  issuer: CertificateIssuer,
  content: CertificateContent,
): Promise<Buffer> {
  const { AsnConvert } = asn1
  const subjectPublicKeyInfo = AsnConvert.parse(content.publicKey, asn1.SubjectPublicKeyInfo)
  const { oid, parameters, hash } = issuer.algorithm
  const signatureAlgorithm = new asn1.AlgorithmIdentifier({ algorithm: oid, ...parameters })
  const tbsCertificate = new asn1.TBSCertificate({
    version: asn1.Version.v3,
    serialNumber: toArrayBuffer(Buffer.from(content.serial, 'hex')),
    signature: signatureAlgorithm,
    issuer: AsnConvert.parse(issuer.certificate, asn1.Certificate).tbsCertificate.subject,
    validity: new asn1.Validity(content.validity),
    subject: buildName(asn1, content.subject),
    subjectPublicKeyInfo,
    extensions: new asn1.Extensions(
      listExtensions(asn1, issuer, content, subjectPublicKeyInfo.subjectPublicKey),
    ),
  })
  const tbs = new Uint8Array(AsnConvert.serialize(tbsCertificate))
  const signature = await signInThread(hash, tbs, { key: issuer.key, dsaEncoding: 'der' })
  const signed = { tbsCertificate, signatureAlgorithm, signatureValue: toArrayBuffer(signature) }
  return Buffer.from(AsnConvert.serialize(new asn1.Certificate(signed)))
}

function listExtensions(
  asn1: Asn1,
  { keyId }: CertificateIssuer,
  { usages, extensions }: CertificateContent,
  publicKeyBits: ArrayBuffer,
) {
  const { AsnConvert, KeyUsageFlags } = asn1
  const encode = (extnID: string, value: object, critical = false) =>
    buildExtension(asn1, extnID, AsnConvert.serialize(value), critical)
  const purposes = { server: asn1.id_kp_serverAuth, client: asn1.id_kp_clientAuth }
  // The key identifier is no signature. RFC 5280 recommends this hash.
  const subjectKeyId = createHash('sha1').update(new Uint8Array(publicKeyBits)).digest()
  return [
    encode(asn1.id_ce_basicConstraints, new asn1.BasicConstraints({ cA: false }), true),
    encode(asn1.id_ce_keyUsage, new asn1.KeyUsage(KeyUsageFlags.digitalSignature), true),
    encode(asn1.id_ce_extKeyUsage, new asn1.ExtendedKeyUsage(usages.map((usage) => purposes[usage]))),
    encode(asn1.id_ce_subjectKeyIdentifier, new asn1.SubjectKeyIdentifier(subjectKeyId)),
    ...(keyId === undefined
      ? []
      : [
          encode(
            asn1.id_ce_authorityKeyIdentifier,
            new asn1.AuthorityKeyIdentifier({
              keyIdentifier: new asn1.KeyIdentifier(Buffer.from(keyId, 'hex')),
            }),
          ),
        ]),
    ...extensions.map(({ type, value }) => buildExtension(asn1, type, value, false)),
  ]
}

function buildExtension(asn1: Asn1, extnID: string, value: ArrayBuffer, critical: boolean) {
  return new asn1.Extension({ extnID, critical, extnValue: new asn1.OctetString(value) })
}

const [commonNameType, organizationType] = ['2.5.4.3', '2.5.4.10']

/** Builds the X.509 name of a subject as `buildX509Name` does: each organization gets its own RDN. */
function buildName(asn1: Asn1, { commonName, organizations }: CertificateSubject) {
  const parts = [
    ...organizations.map((name) => [organizationType, name] as const),
    [commonNameType, commonName] as const,
  ]
  return new asn1.Name(
    parts.map(([type, utf8String]) => {
      const value = new asn1.AttributeValue({ utf8String })
      return new asn1.RelativeDistinguishedName([new asn1.AttributeTypeAndValue({ type, value })])
    }),
  )
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
