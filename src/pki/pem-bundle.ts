import { X509Certificate } from 'node:crypto'

const onePem = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** The certificates in a text, one PEM after the other. What only looks like one is left out. */
export function certificatesIn(text: string): readonly X509Certificate[] {
  return (text.match(onePem) ?? []).flatMap((pem) => {
    try {
      return [new X509Certificate(pem)]
    } catch {
      return []
    }
  })
}

/** Whether a certificate is among those in a text, however each of them is spelt. */
export function hasCertificate(text: string, certificate: string): boolean {
  const wanted = new Set(certificatesIn(certificate).map(({ fingerprint256 }) => fingerprint256))
  return certificatesIn(text).some(({ fingerprint256 }) => wanted.has(fingerprint256))
}

/** The text without a certificate. */
export function withoutCertificate(text: string, certificate: string): string {
  return certificatesIn(text)
    .filter((one) => !hasCertificate(one.toString(), certificate))
    .map((one) => `${one.toString().trim()}\n`)
    .join('')
}
