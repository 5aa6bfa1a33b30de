import { expect, test } from 'vitest'
import { Metrics } from './metrics.ts'

test('counters, gauges and histograms are formatted in the Prometheus text format', () => {
  const metrics = new Metrics()
  metrics.counters('adds_total', 'What was added.').add({ name: 'a"\n\\' })
  metrics.counters('adds_total', 'What was added.').add({ name: 'a"\n\\' }, 2)
  metrics.gauges('depth', 'How many wait.', () => [[{ name: 'a' }, 3]])
  metrics.gauges('depth', 'How many wait.', () => [[{ name: 'b' }, 0]])
  const times = metrics.histograms('seconds', 'How long it took.', [0.1, 1])
  for (const time of [0.1, 0.5, 0.75, 5]) times.observe({ name: 'a' }, time)
  expect(metrics.text()).toMatchInlineSnapshot(`
    "# HELP adds_total What was added.
    # TYPE adds_total counter
    adds_total{name="a\\"\\n\\\\"} 3
    # HELP depth How many wait.
    # TYPE depth gauge
    depth{name="a"} 3
    depth{name="b"} 0
    # HELP seconds How long it took.
    # TYPE seconds histogram
    seconds_bucket{name="a",le="0.1"} 1
    seconds_bucket{name="a",le="1"} 3
    seconds_bucket{name="a",le="+Inf"} 4
    seconds_sum{name="a"} 6.35
    seconds_count{name="a"} 4
    "
  `)
})

test('a metric name cannot be registered with two types', () => {
  const metrics = new Metrics()
  metrics.counters('x', 'x')
  expect(() => metrics.gauges('x', 'x', () => [])).toThrow('metric x is already registered')
})
