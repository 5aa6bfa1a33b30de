/** Issuing certificates needs a library that takes 120 ms to load; only those who issue wait for it. */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

export type X509 = Awaited<ReturnType<typeof loadX509>>
