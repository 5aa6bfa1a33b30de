export const signingRequests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

export interface SigningWish {
  readonly signerName: string
  readonly usages: readonly string[]
  /** PEM. */
  readonly request: string
}

export function signingRequest(name: string, { signerName, usages, request }: SigningWish): object {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { signerName, usages, request: Buffer.from(request).toString('base64') },
  }
}

/** Approved or Denied; undefined while nobody has answered. */
export function answerIn({
  status,
}: {
  readonly status: { readonly conditions?: readonly { readonly type: string }[] | undefined }
}): string | undefined {
  return status.conditions?.find(({ type }) => type === 'Approved' || type === 'Denied')?.type
}
