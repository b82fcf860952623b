-- What operators list, read by what they list, however many conversations there are (docs/upkeep.md).

CREATE INDEX conversations_of_operator ON conversations (id) WHERE held_by = 'operator';
CREATE INDEX conversations_ended ON conversations (place, id) WHERE ended_at IS NOT NULL;
