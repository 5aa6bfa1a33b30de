export const signingRequestsPath = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

export interface SigningRequestSpec {
  readonly signerName: string
  readonly usages: readonly string[]
  /** Certificate signing request as PEM. */
  readonly request: string
}

export function buildSigningRequest(
  name: string,
  { signerName, usages, request }: SigningRequestSpec,
): object {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { signerName, usages, request: Buffer.from(request).toString('base64') },
  }
}

/** Returns the decision about a CSR: Approved or Denied; undefined before the decision. */
export function findDecision({
  status,
}: {
  readonly status: { readonly conditions?: readonly { readonly type: string }[] | undefined }
}): string | undefined {
  return status.conditions?.find(({ type }) => type === 'Approved' || type === 'Denied')?.type
}
