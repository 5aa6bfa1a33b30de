import { configureGlobal } from 'fast-check'

// Parsing a certificate before node:tls is loaded leaves node:tls without createSecureContext (Node 24).
await import('node:tls')

// Enough to find most mistakes on every change; `npm run test:full` uses thousands.
configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) })
