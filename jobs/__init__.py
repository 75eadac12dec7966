from jobs.frame.neighbours import refuse_strangers

refuse_strangers()
