"""From files to stored chunks: readers, segmentation, headers, chunks, and the pipeline that drives them."""
