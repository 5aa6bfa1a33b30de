/** The library takes 120 ms to load, so only commands that issue certificates load it. */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

export type X509 = Awaited<ReturnType<typeof loadX509>>
