/** Loads the X.509 library only when it is needed, because loading takes 120 ms. */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

export type X509 = Awaited<ReturnType<typeof loadX509>>
