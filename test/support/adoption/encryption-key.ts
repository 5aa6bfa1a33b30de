/** Key with which a cluster of the lab encrypts Secrets: 32 bytes, as base64. */
export const encryptionKey = Buffer.alloc(32, 'key of the lab').toString('base64')
