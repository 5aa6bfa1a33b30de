import { X509Certificate } from 'node:crypto'

const onePem = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** Parses all PEM certificates in a text and skips invalid ones. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  return (text.match(onePem) ?? []).flatMap((pem) => {
    try {
      return [new X509Certificate(pem)]
    } catch {
      return []
    }
  })
}

/**
 * True if the text contains the certificate. Fingerprints are compared, so PEM formatting does not matter.
 */
export function hasCertificate(text: string, certificate: string): boolean {
  const wanted = new Set(parseCertificates(certificate).map(({ fingerprint256 }) => fingerprint256))
  return parseCertificates(text).some(({ fingerprint256 }) => wanted.has(fingerprint256))
}

/** Removes a certificate from a text with several PEM certificates. */
export function withoutCertificate(text: string, certificate: string): string {
  return parseCertificates(text)
    .filter((one) => !hasCertificate(one.toString(), certificate))
    .map((one) => `${one.toString().trim()}\n`)
    .join('')
}
